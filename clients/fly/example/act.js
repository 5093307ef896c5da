import { DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { createFly } from 'neural-experiment-fly';

const query = new URLSearchParams(location.search);
const service = query.get('service') ?? 'http://localhost:8080';
const ask = async (path, init) => (await fetch(service + path, init)).json();
const body = JSON.stringify({ stimulus: query.get('stimulus') ?? 'loom', duration_ms: 200 });
const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
const [model, run] = await Promise.all([ask('/api/v1/model'), ask('/api/v1/run', post)]);

const fly = createFly({ background: 'dark', travels: false });
fly.load(run, model);
const scene = new Scene().add(fly.object, new HemisphereLight('#dfe8ff', '#6a5238', 1.5));
scene.add(new DirectionalLight('#fff3dd', 2.5).translateX(3).translateY(5).translateZ(4));
const camera = new PerspectiveCamera(30, innerWidth / innerHeight).translateX(7).translateY(4).translateZ(7);
camera.lookAt(0, 1, 0);
const renderer = new WebGLRenderer({ antialias: true });
renderer.setSize(innerWidth, innerHeight);
document.body.append(renderer.domElement);

// One ms of the run is shown for 50 ms; then the fly comes to rest, and all begins again.
renderer.setAnimationLoop((now) => {
  fly.showAt((now / 50) % (run.duration_ms + 100));
  document.getElementById('behaviour').textContent = fly.behaviour;
  renderer.render(scene, camera);
});
