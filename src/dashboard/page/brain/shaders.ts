/**
 * One point for each neuron. At rest it is a faint dot in the colour of its super class; a spike makes it
 * large and bright. On a dark stage points add light; on paper they take it away, like ink.
 */

export const KINDS = 11;

export const VERTEX_SHADER = /* glsl */ `
  uniform float pixelsPerUnit;
  uniform float restSize;
  uniform float glowSize;
  uniform float restStrength;
  uniform vec3 kindColours[${KINDS}];
  uniform float kindStrengths[${KINDS}];
  uniform vec3 runColour;
  uniform vec3 keptColour;
  uniform float estimatedStrength;
  uniform bool onPaper;
  uniform bool anyMarked;

  // Brightness in the run and in the kept run, 0 to 1.
  attribute vec4 light;
  // Index of the super class, 1 where the position is estimated, 1 where the type is marked.
  attribute vec4 traits;

  varying vec3 colour;

  void main() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;

    float marked = traits.z;
    int kind = int(traits.x + 0.5);
    float rest = restStrength * kindStrengths[kind] * mix(1.0, estimatedStrength, traits.y);
    if (anyMarked) rest = mix(0.35 * rest, 6.0 * restStrength, marked);
    float glow = max(light.x, light.y);
    vec3 restColour = kindColours[kind];

    if (onPaper) {
      colour = rest * (1.0 - restColour) * (1.0 - glow)
             + light.x * (1.0 - runColour) + light.y * (1.0 - keptColour);
    } else {
      colour = rest * restColour * (1.0 - glow) + light.x * runColour + light.y * keptColour;
    }

    float size = restSize * mix(1.0, 0.85, traits.y) * (1.0 + marked);
    float pixels = pixelsPerUnit * mix(size, glowSize, smoothstep(0.0, 1.0, glow)) / -seen.z;
    // Below this size a point would flicker as it moves; it gets paler instead.
    float drawn = max(pixels, 1.6);
    colour *= min(1.0, (pixels * pixels) / (drawn * drawn) + glow);
    gl_PointSize = drawn;
  }
`;

export const FRAGMENT_SHADER = /* glsl */ `
  uniform bool onPaper;
  varying vec3 colour;

  void main() {
    float radius = 2.0 * length(gl_PointCoord - 0.5);
    if (radius > 1.0) discard;
    float halo = (1.0 - radius) * (1.0 - radius);
    float core = smoothstep(0.55, 0.0, radius);
    vec3 strength = colour * (0.45 * halo + 0.75 * core);
    gl_FragColor = onPaper ? vec4(max(vec3(0.0), 1.0 - strength), 1.0) : vec4(strength, 1.0);
  }
`;
