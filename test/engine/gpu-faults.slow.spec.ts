/**
 * Faults of a real device. If it refuses work, gpu.js logs an error and resolves with a buffer of zeros, which must
 * never pass for a certified run without spikes.
 */
import { requestGpuAdapter } from '../../src/engine/simulation/gpu/adapter.js';
import { OneThreadGpu } from '../support/one-thread-gpu.js';
import { randomNetwork } from '../support/random-network.js';
import { describeWith } from '../support/requirements.js';

const network = randomNetwork(783, 100);
const STEPS = 54;
const trial = { events: network.inputEvents(0, STEPS), options: { durationSteps: STEPS } };

describeWith(['gpu'], 'A GPU that fails', () => {
  /** The device that gpu.js uses, and a change that is made to it before. */
  let device: GPUDevice;
  let prepare: (device: GPUDevice) => void = () => {};

  beforeAll(async () => {
    // Both gpu.js and the binding print the error.
    jest.spyOn(console, 'error').mockImplementation(() => {});
    await requestGpuAdapter();
    const { gpu } = (globalThis as unknown as { navigator: { gpu: GPU } }).navigator;
    const requestAdapter = gpu.requestAdapter.bind(gpu);
    gpu.requestAdapter = async () => {
      const adapter = (await requestAdapter())!;
      const requestDevice = adapter.requestDevice.bind(adapter);
      adapter.requestDevice = async (descriptor?: GPUDeviceDescriptor) => {
        device = await requestDevice(descriptor);
        prepare(device);
        return device;
      };
      return adapter;
    };
  });
  afterEach(async () => {
    prepare = () => {};
    device.destroy();
    await device.lost;
  });

  const simulate = async () => {
    const engine = new OneThreadGpu(network.wiring, { mode: 'webgpu', widths: [1] });
    try {
      return await engine.simulateBatch([trial]);
    } finally {
      await engine.destroy();
    }
  };

  it('has spikes as long as it works', async () => {
    const [run] = await simulate();
    expect(run).toMatchObject({ certified: true });
    expect(run!.trial.steps.length).toBeGreaterThan(4);
  });

  it('never takes a buffer that it had no memory for as a result', async () => {
    const [good] = await simulate();
    let refused = 0;
    let isBeyondTheLast = false;
    for (let at = 0; !isBeyondTheLast; at += 3) {
      device.destroy();
      await device.lost;
      let buffers = 0;
      prepare = (device) => {
        const createBuffer = device.createBuffer.bind(device);
        device.createBuffer = (descriptor) =>
          createBuffer(buffers++ === at ? { ...descriptor, size: 2 ** 48 } : descriptor);
      };
      try {
        expect(await simulate()).toEqual([good]);
      } catch (error) {
        expect(error).toMatchObject({ code: 'GPU_FAILED' });
        refused++;
      }
      isBeyondTheLast = at >= buffers;
    }
    expect(refused).toBeGreaterThan(5);
    // Each case compiles the kernels again, which takes a software adapter a second or more.
  }, 300_000);

  it('fails a batch when the device is lost, and computes the next on a fresh one', async () => {
    const [good] = await simulate();
    const engine = new OneThreadGpu(network.wiring, { mode: 'webgpu', widths: [1] });
    try {
      await engine.simulateBatch([trial]);
      const lost = device;
      const running = engine.simulateBatch([trial]);
      lost.destroy();
      await expect(running).rejects.toMatchObject({ code: 'GPU_FAILED' });
      expect(await engine.simulateBatch([trial])).toEqual([good]);
      expect(device).not.toBe(lost);
    } finally {
      await engine.destroy();
    }
  });

  it('fails a batch when a shader does not compile', async () => {
    prepare = (device) => {
      const createShaderModule = device.createShaderModule.bind(device);
      device.createShaderModule = (descriptor) =>
        createShaderModule({ ...descriptor, code: `${descriptor.code}\nno shader` });
    };
    await expect(simulate()).rejects.toMatchObject({ code: 'GPU_FAILED' });
  });
});
