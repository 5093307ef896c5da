/** The part of WebAssembly that the engine uses; TypeScript knows it only together with a whole browser. */
declare namespace WebAssembly {
  /** Compiled code. Structured clone hands it to another thread without compiling it again. */
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
