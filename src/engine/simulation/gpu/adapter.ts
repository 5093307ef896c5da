import { CodedError } from '../../errors.js';

/**
 * Finds the adapter for the kernels and sets this thread's `navigator`, in which gpu.js looks for it. The binding is
 * loaded only here, because loading it opens the Vulkan loader. package.json overrides the binding that gpu.js pins,
 * because Debian 12's glibc cannot load that one.
 * @throws CodedError GPU_UNAVAILABLE if there is no adapter, if there is only a software one and none is allowed, or if
 *   the binding does not run on this machine
 */
export async function requestGpuAdapter({ allowSoftware = true } = {}) {
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
    /** Maker, model and driver, for people. */
    name: [vendor, architecture, device, description].filter(Boolean).join(', '),
    /** A software adapter computes on the CPU. It is correct but slow, for tests. */
    isSoftware: adapter.info.isFallbackAdapter,
    /** The size of the largest array that a kernel can bind. */
    largestArrayBytes: Math.min(adapter.limits.maxStorageBufferBindingSize, adapter.limits.maxBufferSize),
    /** The size of the largest readback. */
    largestBufferBytes: adapter.limits.maxBufferSize,
  };
}

function unavailable(message: string, cause?: unknown): CodedError {
  return new CodedError('GPU_UNAVAILABLE', message, { cause });
}
