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

/**
 * Growing memory detaches its buffer, so use a view only until the next call of the kernel.
 * @param section the export that is the address of the first byte
 */
export function viewOf<T, Section extends string>(
  kernel: Readonly<Record<Section, WebAssembly.Global>> & { readonly memory: WebAssembly.Memory },
  TypedArray: new (buffer: ArrayBuffer, byteOffset: number, length: number) => T,
  section: Section,
  length: number,
): T {
  return new TypedArray(kernel.memory.buffer, kernel[section].value as number, length);
}
