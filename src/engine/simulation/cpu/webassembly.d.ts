/** The types of WebAssembly that the engine uses. TypeScript has them only in its library for browsers. */
declare namespace WebAssembly {
  /** Compiled code. Structured clone passes it to another thread without compiling it again. */
  class Module {
    constructor(bytes: ArrayBufferView | ArrayBuffer);
    static exports(module: Module): { name: string; kind: string }[];
  }
  class Instance {
    constructor(module: Module, imports?: Record<string, Record<string, unknown>>);
    readonly exports: unknown;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Global {
    value: number;
  }
}
