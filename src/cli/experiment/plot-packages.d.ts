/** Types of the packages that draw PNG and PDF, as far as they are used; pdfkit has none of its own. */
declare module 'pdfkit' {
  interface Gradient {
    stop(offset: number, colour: string): Gradient;
  }
  interface PageOptions {
    readonly size: readonly [width: number, height: number];
    readonly margin: number;
    readonly info: Readonly<Record<string, string | Date>>;
  }
  export default class PDFDocument {
    constructor(options: PageOptions);
    on(event: 'data', listener: (piece: Uint8Array) => void): this;
    on(event: 'end', listener: (value: unknown) => void): this;
    on(event: 'error', listener: (error: unknown) => void): this;
    registerFont(name: string, font: Uint8Array): this;
    font(name: string): this;
    fontSize(size: number): this;
    widthOfString(text: string): number;
    text(
      text: string,
      x: number,
      y: number,
      options: { readonly lineBreak: boolean; readonly baseline: string },
    ): this;
    save(): this;
    restore(): this;
    scale(factor: number): this;
    translate(x: number, y: number): this;
    rotate(degrees: number): this;
    rect(x: number, y: number, width: number, height: number): this;
    moveTo(x: number, y: number): this;
    lineTo(x: number, y: number): this;
    path(data: string): this;
    circle(x: number, y: number, radius: number): this;
    ellipse(x: number, y: number, radiusX: number, radiusY: number): this;
    linearGradient(x1: number, y1: number, x2: number, y2: number): Gradient;
    lineWidth(width: number): this;
    dash(lengths: readonly number[], options: object): this;
    fillOpacity(share: number): this;
    strokeOpacity(share: number): this;
    fillColor(colour: string): this;
    fill(colour: string | Gradient): this;
    stroke(colour: string): this;
    end(): void;
  }
}

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
