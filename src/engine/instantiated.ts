/**
 * @param name the computation, for the error if one of its internal checks fails
 * @returns the exports of a new instance of a compiled kernel
 */
export function instantiated<Exports>(module: WebAssembly.Module, name: string): Exports {
  const abort = () => {
    throw new Error(`${name} failed an internal check`);
  };
  return new WebAssembly.Instance(module, { env: { abort } }).exports as Exports;
}
