import { readQrCode } from "./qr-code.js";

// The page of ScanView.java. It gets a message port from the shell and says on it, in text:
//
//   code TEXT    a code was seen; each text once until another one is seen
//   no-camera    the camera could not be opened, or was taken away
//
// Smaller, a code on a far screen is not read; larger, slow phones look at a picture a second.
const maxSide = 720;
/** Between two pictures, so that the video stays smooth on a slow phone. */
const pauseMilliseconds = 80;

const video = document.querySelector("video");
Object.assign(document.body.style, { margin: "0", background: "#000" });
Object.assign(video.style, { display: "block", width: "100vw", height: "100vh", objectFit: "cover" });

window.addEventListener("message", ({ data, ports: [port] }) => {
  if (data === "scanner" && port !== undefined) void scan(port);
});

async function scan(port) {
  const noCamera = () => port.postMessage("no-camera");
  try {
    const wanted = { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } };
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
    video.srcObject.getVideoTracks()[0].addEventListener("ended", noCamera);
    await video.play();
  } catch {
    noCamera();
    return;
  }
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let told = null;
  const look = () => {
    const text = readQrCode(pictureOf(canvas, context));
    if (text !== null && text !== told) {
      told = text;
      port.postMessage(`code ${text}`);
    }
    setTimeout(look, pauseMilliseconds);
  };
  look();
}

/** The square in the middle of the video, in grey. */
function pictureOf(canvas, context) {
  const side = Math.min(video.videoWidth, video.videoHeight);
  const size = Math.min(side, maxSide);
  if (canvas.width !== size) canvas.width = canvas.height = size;
  const [left, top] = [(video.videoWidth - side) / 2, (video.videoHeight - side) / 2];
  context.drawImage(video, left, top, side, side, 0, 0, size, size);
  const { data } = context.getImageData(0, 0, size, size);
  const light = new Uint8Array(size * size);
  for (let at = 0; at < light.length; at++)
    light[at] = (data[at * 4] * 77 + data[at * 4 + 1] * 151 + data[at * 4 + 2] * 28) >> 8;
  return { width: size, height: size, light };
}
