import { defineComponent, h, onBeforeUnmount, onMounted, ref } from "vue";

/** Loads the script of the service, once for the whole page. */
function loadScript(src) {
  const script = document.querySelector(`script[src="${src}"]`) ?? document.createElement("script");
  if ("Assay" in window) return Promise.resolve();
  if (!script.isConnected) document.head.append(Object.assign(script, { src }));
  return new Promise((resolve) => script.addEventListener("load", resolve));
}

/** Shows the verification here. `done` is for the look of the page: ask your server for the outcome. */
export const AssayVerification = defineComponent({
  // For another session give the component another `key`.
  props: { verificationUrl: { type: String, required: true } },
  emits: ["done", "close"],
  setup(props, { emit }) {
    const place = ref(null);
    let opened = null;
    let isGone = false;
    onMounted(async () => {
      const { verificationUrl } = props;
      await loadScript(`${new URL(verificationUrl).origin}/embed/v1.js`);
      if (isGone) return;
      const onClose = (state) => isGone || emit("close", state);
      opened = Assay.open({
        verificationUrl,
        container: place.value,
        onDone: (state) => emit("done", state),
        onClose,
      });
    });
    onBeforeUnmount(() => {
      isGone = true;
      opened?.close();
    });
    return () => h("div", { ref: place });
  },
});
