import { CodedError } from '../../errors.js';

export interface GpuAdapter {
  /** For people: who made it, what it is, which driver runs it. */
  readonly name: string;
  /** A software adapter computes on the CPU, right but slowly: for tests. */
  readonly isSoftware: boolean;
  /** A kernel cannot bind a larger array. */
  readonly largestArrayBytes: number;
  /** A readback cannot be larger. */
  readonly largestBufferBytes: number;
}

/**
 * Finds the adapter that the kernels will run on, and makes it known where gpu.js looks for it: in `navigator`
 * of this thread. The binding is loaded here and nowhere else, since it opens the Vulkan loader at once.
 * @throws CodedError GPU_UNAVAILABLE when there is no adapter, when there is only a software one and none is
 *   wanted, or when the binding does not run on this machine
 */
export async function requestGpuAdapter({ allowSoftware = true } = {}): Promise<GpuAdapter> {
  let gpu: GPU;
  try {
    const { create } = await import('webgpu');
    gpu = create([]);
  } catch (error) {
    throw unavailable(`The WebGPU binding cannot be loaded: ${(error as Error).message}`, error);
  }
  const adapter = await gpu.requestAdapter();
  if (adapter === null) throw unavailable('Vulkan has no adapter on this machine.');
  if (adapter.info.isFallbackAdapter && !allowSoftware) {
    throw unavailable(
      `The only adapter is a software one (${adapter.info.description}); GPU_ALLOW_SOFTWARE=1 accepts it.`,
    );
  }
  Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true, writable: true });
  const { vendor, architecture, device, description } = adapter.info;
  return {
    name: [vendor, architecture, device, description].filter(Boolean).join(', '),
    isSoftware: adapter.info.isFallbackAdapter,
    largestArrayBytes: Math.min(adapter.limits.maxStorageBufferBindingSize, adapter.limits.maxBufferSize),
    largestBufferBytes: adapter.limits.maxBufferSize,
  };
}

function unavailable(message: string, cause?: unknown): CodedError {
  return new CodedError('GPU_UNAVAILABLE', message, { cause });
}
