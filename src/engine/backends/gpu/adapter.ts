import { CodedError } from '../../../errors.js';

export interface GpuAdapter {
  /** For people: who made it, what it is, which driver runs it. */
  readonly name: string;
  /** A software adapter computes on the CPU, right but slowly: for tests. */
  readonly isSoftware: boolean;
}

/**
 * Finds the adapter that the kernels will run on, and makes it known where gpu.js looks for it: in `navigator`
 * of this thread. The binding is loaded here and nowhere else, since it opens the Vulkan loader at once.
 * @throws CodedError GPU_UNAVAILABLE when there is no adapter, or the binding does not run on this machine
 */
export async function requestGpuAdapter(): Promise<GpuAdapter> {
  let gpu: GPU;
  try {
    const { create } = await import('webgpu');
    gpu = create([]);
  } catch (error) {
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `The WebGPU binding cannot be loaded: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const adapter = await gpu.requestAdapter();
  if (adapter === null) {
    throw new CodedError('GPU_UNAVAILABLE', 'Vulkan has no adapter on this machine.');
  }
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true, writable: true });
  const { vendor, architecture, device, description } = adapter.info;
  return {
    name: [vendor, architecture, device, description].filter(Boolean).join(', '),
    isSoftware: adapter.info.isFallbackAdapter,
  };
}
