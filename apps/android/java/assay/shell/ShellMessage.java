package assay.shell;

/**
 * Messages between page and shell on the message port; assets/chip-transport.js is the other end. Free of
 * Android, so that a plain JVM can test it.
 */
final class ShellMessage {
    enum Kind {
        /** One command for the chip; is answered. */
        TRANSCEIVE,
        /** Takes the power from the chip and gives it back; is answered. */
        RESET,
        /** The reading is over or cancelled. */
        CANCEL,
        /** State that the page needs after the process was ended; empty to delete it. */
        KEEP,
        /** Haptic feedback. */
        FEEL,
        /** The person wants to turn the reader on. */
        SETTINGS,
        /** A key of the secure hardware for this nonce; is answered. */
        MAKE_KEY,
        /** The signature of that key; is answered. */
        SIGN
    }

    private static final int SHORT_COMMAND_BYTES = 261;
    private static final int SHORT_RESPONSE_BYTES = 258;
    private static final String DIGITS = "0123456789abcdef";

    final Kind kind;
    /** Zero for messages without an answer. */
    final int number;
    /** Bytes for the chip or the secure hardware; null otherwise. */
    final byte[] command;
    /** The state to store or the kind of feedback; null otherwise. */
    final String text;

    private ShellMessage(Kind kind, int number, byte[] command, String text) {
        this.kind = kind;
        this.number = number;
        this.command = command;
        this.text = text;
    }

    /** Null when it is none of the page's messages. */
    static ShellMessage parse(String message) {
        if (message == null) return null;
        if (message.equals("cancel")) return new ShellMessage(Kind.CANCEL, 0, null, null);
        if (message.equals("settings")) return new ShellMessage(Kind.SETTINGS, 0, null, null);
        if (message.startsWith("keep ")) return new ShellMessage(Kind.KEEP, 0, null, message.substring(5));
        String[] parts = message.split(" ", -1);
        if (parts[0].equals("feel") && parts.length == 2 && (parts[1].equals("read") || parts[1].equals("problem")))
            return new ShellMessage(Kind.FEEL, 0, null, parts[1]);
        if (parts.length < 2 || !parts[1].matches("[1-9][0-9]{0,8}")) return null;
        int number = Integer.parseInt(parts[1]);
        if (parts[0].equals("reset") && parts.length == 2) return new ShellMessage(Kind.RESET, number, null, null);
        Kind kind = kindWithBytes(parts[0]);
        if (kind == null || parts.length != 3) return null;
        byte[] command = fromHex(parts[2]);
        return command == null ? null : new ShellMessage(kind, number, command, null);
    }

    private static Kind kindWithBytes(String word) {
        if (word.equals("transceive")) return Kind.TRANSCEIVE;
        if (word.equals("makekey")) return Kind.MAKE_KEY;
        return word.equals("sign") ? Kind.SIGN : null;
    }

    static String answer(int number, byte[] answer) {
        return "answer " + number + " " + toHex(answer);
    }

    /** The answer to a key that was made: from its own certificate to the root's. */
    static String certificates(int number, byte[][] chain) {
        StringBuilder message = new StringBuilder("certificates " + number + " ");
        for (int index = 0; index < chain.length; index++)
            message.append(index == 0 ? "" : ".").append(toHex(chain[index]));
        return message.toString();
    }

    /** The secure hardware did not do what was asked, or there is none. */
    static String refused(int number) {
        return "refused " + number;
    }

    /** The answer to a reset. */
    static String done(int number) {
        return "done " + number;
    }

    /** The chip left the field, or the reading was cancelled. */
    static String lost(int number) {
        return "lost " + number;
    }

    /** Nothing can be read: the reader is off, or the phone has none. */
    static String unavailable(int number) {
        return "unavailable " + number;
    }

    /** "ready", "off" or "absent". */
    static String reader(String state) {
        return "reader " + state;
    }

    /**
     * Limits of phone and NFC controller, in the page's terms. Android reports how many bytes can be sent;
     * answers are as long only with extended length.
     */
    static String limits(int maxTransceiveBytes, boolean extendedLengthSupported) {
        boolean extended = extendedLengthSupported && maxTransceiveBytes > SHORT_COMMAND_BYTES;
        int command = extended ? maxTransceiveBytes : Math.min(maxTransceiveBytes, SHORT_COMMAND_BYTES);
        int response = extended ? maxTransceiveBytes : SHORT_RESPONSE_BYTES;
        return "limits " + command + " " + response + " " + (extended ? 1 : 0);
    }

    private static String toHex(byte[] bytes) {
        StringBuilder hex = new StringBuilder(bytes.length * 2);
        for (byte value : bytes) hex.append(DIGITS.charAt((value >> 4) & 15)).append(DIGITS.charAt(value & 15));
        return hex.toString();
    }

    private static byte[] fromHex(String hex) {
        if (hex.isEmpty() || hex.length() % 2 != 0) return null;
        byte[] bytes = new byte[hex.length() / 2];
        for (int index = 0; index < bytes.length; index++) {
            int high = DIGITS.indexOf(hex.charAt(2 * index));
            int low = DIGITS.indexOf(hex.charAt(2 * index + 1));
            if (high < 0 || low < 0) return null;
            bytes[index] = (byte) (high << 4 | low);
        }
        return bytes;
    }
}
