/** The fly in the middle of the window, with its behaviour as a caption. */
import { DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { createFly } from 'neural-experiment-fly';

const scheme = matchMedia('(prefers-color-scheme: dark)');
const renderer = new WebGLRenderer({ antialias: true });
const camera = new PerspectiveCamera(30, 1).translateX(7).translateY(4).translateZ(7);
camera.lookAt(0, 1, 0);
export const fly = createFly({ travels: false });
const scene = new Scene().add(fly.object, new HemisphereLight('#dfe8ff', '#6a5238', 1.5));
scene.add(new DirectionalLight('#fff3dd', 2.5).translateX(3).translateY(5).translateZ(4));

function fit() {
  renderer.setPixelRatio(devicePixelRatio);
  renderer.setSize(innerWidth, innerHeight);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
}
function paint() {
  fly.setBackground(scheme.matches ? 'dark' : 'light');
  renderer.setClearColor(scheme.matches ? '#07080c' : '#faf8f2');
}
addEventListener('resize', fit);
scheme.addEventListener('change', paint);
fit();
paint();
document.body.append(renderer.domElement);

/** @param showAt moves the fly to a time of the page, in ms */
export function animate(showAt) {
  const behaviour = document.getElementById('behaviour');
  renderer.setAnimationLoop((nowMs) => {
    showAt(nowMs);
    if (behaviour.textContent !== fly.behaviour) behaviour.textContent = fly.behaviour;
    renderer.render(scene, camera);
  });
}
