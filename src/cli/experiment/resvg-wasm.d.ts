/** Types of the package that draws PNG, as far as they are used. */
declare module '@resvg/resvg-wasm' {
  export function initWasm(module: Uint8Array): Promise<void>;
  export class Resvg {
    constructor(
      svg: string,
      options: {
        readonly fitTo: { readonly mode: 'width'; readonly value: number };
        readonly font: { readonly fontBuffers: readonly Uint8Array[] };
      },
    );
    readonly width: number;
    readonly height: number;
    render(): { asPng(): Uint8Array };
    free(): void;
  }
}
