package assay.shell;

/**
 * What page and shell say to each other on the message port; assets/chip-transport.js is the other end. Free of Android, as a
 * plain JVM tests it.
 */
final class ChipMessage {
    private static final int SHORT_COMMAND_BYTES = 261;
    private static final int SHORT_RESPONSE_BYTES = 258;
    private static final String DIGITS = "0123456789abcdef";

    /** Zero for "cancel". */
    final int number;
    final byte[] command;

    private ChipMessage(int number, byte[] command) {
        this.number = number;
        this.command = command;
    }

    boolean isCancel() {
        return command == null;
    }

    /** Null when it is none of the page's messages. */
    static ChipMessage parse(String text) {
        if (text == null) return null;
        if (text.equals("cancel")) return new ChipMessage(0, null);
        String[] parts = text.split(" ", -1);
        if (parts.length != 3 || !parts[0].equals("transceive") || !parts[1].matches("[1-9][0-9]{0,8}")) return null;
        byte[] command = fromHex(parts[2]);
        return command == null ? null : new ChipMessage(Integer.parseInt(parts[1]), command);
    }

    static String answer(int number, byte[] answer) {
        return "answer " + number + " " + toHex(answer);
    }

    static String lost(int number) {
        return "lost " + number;
    }

    /**
     * What phone and NFC controller say about themselves, in the page's terms. Android tells how many bytes can be sent; what
     * comes back is as long only where extended length works.
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
