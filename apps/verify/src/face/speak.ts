/**
 * Reads instructions aloud for people who do not see the screen and use no screen reader. It gets fixed texts
 * of the page only, never a name or document data, because others may be listening.
 */
type Speaker = { say(text: string): void; stop(): void };

/** Null if the browser has no speech. */
export function createSpeaker(language: string): Speaker | null {
  const voice = globalThis.speechSynthesis;
  if (voice === undefined) return null;
  return {
    say(text) {
      // An instruction that is over must not be heard after the next one.
      voice.cancel();
      const spoken = new SpeechSynthesisUtterance(text);
      spoken.lang = language;
      voice.speak(spoken);
    },
    stop: () => voice.cancel(),
  };
}

const key = "assay:speak";

/** Off by default; once enabled it stays enabled on this device. */
export function wantsSpeech(): boolean {
  try {
    return localStorage.getItem(key) === "yes";
  } catch {
    return false;
  }
}

export function keepSpeech(wanted: boolean): void {
  try {
    if (wanted) localStorage.setItem(key, "yes");
    else localStorage.removeItem(key);
  } catch {
    // It then holds until the page is left.
  }
}
