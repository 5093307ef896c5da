/**
 * Runs in a page before its own code, and notes for tests and benchmarks what the page itself does not say: on a
 * canvas its drawn frames and the draw calls of the last one, on the document whether its brain is in the tab.
 */
{
  const { document, WebGL2RenderingContext, Worker } = globalThis;
  const calls = new Map();
  const note = (canvas) => {
    canvas.dataset.frames = Number(canvas.dataset.frames ?? 0) + 1;
    canvas.dataset.drawCalls = calls.get(canvas);
    calls.delete(canvas);
  };
  const drawing = ['drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced'];
  for (const name of [...drawing, 'drawRangeElements']) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...values) {
      // A frame is drawn in one go, so it has ended when this runs.
      if (!calls.has(this.canvas)) queueMicrotask(() => note(this.canvas));
      calls.set(this.canvas, (calls.get(this.canvas) ?? 0) + 1);
      return draw.apply(this, values);
    };
  }

  globalThis.Worker = class extends Worker {
    constructor(...values) {
      super(...values);
      this.addEventListener('message', ({ data }) => {
        if (data?.kind === 'ready') document.documentElement.dataset.brain = 'here';
      });
    }
  };
}
