/**
 * Two passes. At rest each neuron is a faint dot in the colour of its super class. Above them,
 * neurons that spike or are marked are drawn again. They are opaque enough to keep their colour if many overlap.
 * Otherwise a strong run or two runs would add up to white.
 */

export const SUPER_CLASS_COLOURS = 11;

/** A position outside the clip space: the point is not drawn. */
const OFF_SCREEN = 'vec4(2.0, 2.0, 2.0, 1.0)';

/** Attributes of a point, and the camera. */
const SEEN = /* glsl */ `
  layout(location = 0) in vec3 position;
  // Index of the super class, 1 if the position is estimated, 1 if the neuron is marked.
  layout(location = 1) in vec4 traits;
  // Brightness in the run and in the kept run, 0 to 1.
  layout(location = 2) in vec4 light;
  uniform mat4 view;
  uniform mat4 projection;
`;

export const REST_VERTEX_SHADER = /* glsl */ `${SEEN}
  uniform float pixelsPerUnit;
  uniform float restSize;
  uniform float restStrength;
  uniform vec3 superClassColours[${SUPER_CLASS_COLOURS}];
  uniform float superClassStrengths[${SUPER_CLASS_COLOURS}];
  uniform float estimatedStrength;
  // Distance of the brain's nearest part from the camera, and depth of the brain.
  uniform vec2 depth;

  out vec3 colour;
  out float alpha;

  void main() {
    vec4 seen = view * vec4(position, 1.0);
    gl_Position = projection * seen;
    int superClass = int(traits.x + 0.5);
    colour = superClassColours[superClass];
    alpha = restStrength * superClassStrengths[superClass] * mix(1.0, estimatedStrength, traits.y);
    // The farther half is fainter.
    alpha *= mix(1.3, 0.45, clamp((-seen.z - depth.x) / depth.y, 0.0, 1.0));
    float pixels = pixelsPerUnit * restSize * mix(1.0, 0.85, traits.y) / -seen.z;
    // Below this size a point would flicker as it moves; it gets paler instead.
    gl_PointSize = max(pixels, 1.6);
    alpha *= min(1.0, (pixels * pixels) / (gl_PointSize * gl_PointSize));
  }
`;

export const REST_FRAGMENT_SHADER = /* glsl */ `
  in vec3 colour;
  in float alpha;
  out vec4 painted;

  void main() {
    float radius = 2.0 * length(gl_PointCoord - 0.5);
    if (radius > 1.0) discard;
    float opacity = min(1.0, alpha * (0.45 * (1.0 - radius) * (1.0 - radius) + 0.75 * smoothstep(0.55, 0.0, radius)));
    painted = vec4(colour * opacity, opacity);
  }
`;

export const GLOW_VERTEX_SHADER = /* glsl */ `${SEEN}
  uniform float pixelsPerUnit;
  uniform float pixelRatio;
  uniform float glowSize;
  uniform float markPixels;
  uniform bool anyMarked;
  uniform vec3 runColour;
  uniform vec3 keptColour;
  uniform vec3 sharedColour;
  uniform vec3 brightest;
  uniform vec3 superClassColours[${SUPER_CLASS_COLOURS}];

  out vec3 colour;
  out float alpha;
  out float ring;

  void main() {
    vec4 seen = view * vec4(position, 1.0);
    gl_Position = projection * seen;
    float marked = traits.z;
    float glow = max(light.x, light.y);
    if (glow == 0.0 && marked == 0.0) {
      gl_Position = ${OFF_SCREEN};
      gl_PointSize = 0.0;
      return;
    }
    float keptShare = light.y / max(light.x + light.y, 1e-4);
    colour = keptShare < 0.5
      ? mix(runColour, sharedColour, 2.0 * keptShare)
      : mix(sharedColour, keptColour, 2.0 * keptShare - 1.0);
    // The strongest are a little brighter on a dark stage, and darker on paper.
    colour = mix(colour, brightest, 0.3 * glow * glow);
    if (glow == 0.0) colour = superClassColours[int(traits.x + 0.5)];
    alpha = 0.18 + 0.82 * glow;
    if (anyMarked && marked == 0.0) alpha *= 0.22;
    gl_PointSize = max(2.0, pixelsPerUnit * glowSize * (0.4 + 0.6 * glow) / -seen.z);
    ring = marked;
    if (marked > 0.0) {
      alpha = 1.0;
      gl_PointSize = max(gl_PointSize, markPixels * pixelRatio);
    }
  }
`;

export const GLOW_FRAGMENT_SHADER = /* glsl */ `
  uniform vec3 markColour;
  in vec3 colour;
  in float alpha;
  in float ring;
  out vec4 painted;

  void main() {
    float radius = 2.0 * length(gl_PointCoord - 0.5);
    if (radius > 1.0) discard;
    if (ring > 0.0) {
      float inside = smoothstep(0.55, 0.5, radius);
      float onRing = smoothstep(0.62, 0.68, radius) * smoothstep(1.0, 0.94, radius);
      float opacity = max(inside, onRing);
      painted = vec4(mix(markColour, colour, inside) * opacity, opacity);
      return;
    }
    float halo = (1.0 - radius) * (1.0 - radius);
    float opacity = alpha * (0.25 * halo + 0.75 * smoothstep(0.7, 0.3, radius));
    painted = vec4(colour * opacity, opacity);
  }
`;
