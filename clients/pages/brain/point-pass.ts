/**
 * Draws points in one call with plain WebGL 2. Visitors wait for the brain, and a library would be most of the code
 * that they load before it.
 */

/** Attributes of a point: location in the shaders, number of components, and true if bytes stand for 0 to 1. */
const ATTRIBUTES = {
  position: { at: 0, size: 3, isNormalized: false },
  traits: { at: 1, size: 4, isNormalized: false },
  light: { at: 2, size: 4, isNormalized: true },
} as const;
type Attribute = keyof typeof ATTRIBUTES;
type Values = Float32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/** Values of uniforms by their names; arrays are flat. */
type Uniforms = Readonly<Record<string, number | boolean | Float32List>>;

export class PointPass {
  readonly #values = new Map<Attribute, Values>();
  #buffers = new Map<Attribute, WebGLBuffer>();
  #program!: WebGLProgram;
  #arrays!: WebGLVertexArrayObject;
  /** Undefined until the program is compiled; the browser may compile in parallel. */
  #uniforms: readonly { name: string; type: number; at: WebGLUniformLocation }[] | undefined;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly shaders: { readonly vertex: string; readonly fragment: string },
  ) {
    this.restore();
  }

  /** Number of points. */
  get count(): number {
    return (this.#values.get('position')?.length ?? 0) / ATTRIBUTES.position.size;
  }

  /** Uploads all data, at first and after a lost context. */
  restore(): void {
    const { gl } = this;
    this.#program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, this.shaders.vertex],
      [gl.FRAGMENT_SHADER, this.shaders.fragment],
    ] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, `#version 300 es\nprecision highp float;\n${source}`);
      gl.compileShader(shader);
      gl.attachShader(this.#program, shader);
      gl.deleteShader(shader);
    }
    gl.linkProgram(this.#program);
    this.#uniforms = undefined;
    this.#arrays = gl.createVertexArray();
    this.#buffers = new Map();
    for (const [attribute, values] of this.#values) this.set(attribute, values);
  }

  set(attribute: Attribute, values: Values): void {
    this.#values.set(attribute, values);
    const { gl } = this;
    let buffer = this.#buffers.get(attribute);
    if (buffer === undefined) {
      buffer = gl.createBuffer();
      this.#buffers.set(attribute, buffer);
      const { at, size, isNormalized } = ATTRIBUTES[attribute];
      gl.bindVertexArray(this.#arrays);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(at);
      const type = values instanceof Float32Array ? gl.FLOAT : gl.UNSIGNED_BYTE;
      gl.vertexAttribPointer(at, size, type, isNormalized, 0, 0);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  draw(values: Uniforms): void {
    const { gl } = this;
    gl.useProgram(this.#program);
    this.#uniforms ??= this.#activeUniforms();
    for (const { name, type, at } of this.#uniforms) {
      const value = values[name]!;
      const list = typeof value === 'object' ? value : [Number(value)];
      if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(at, false, list);
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(at, list);
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(at, list);
      else if (type === gl.BOOL) gl.uniform1iv(at, list);
      else gl.uniform1fv(at, list);
    }
    gl.bindVertexArray(this.#arrays);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }

  #activeUniforms() {
    const { gl } = this;
    const count = (gl.getProgramParameter(this.#program, gl.ACTIVE_UNIFORMS) as number | null) ?? 0;
    return Array.from({ length: count }, (_, index) => {
      const { name, type } = gl.getActiveUniform(this.#program, index)!;
      return {
        name: name.replace('[0]', ''),
        type,
        at: gl.getUniformLocation(this.#program, name)!,
      };
    });
  }
}
