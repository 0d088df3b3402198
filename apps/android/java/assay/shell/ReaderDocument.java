package assay.shell;

import java.util.Locale;

/**
 * What an origin must answer before its page is opened: that it is a verification service, and who asks. Free
 * of Android, so that a plain JVM can test it. Values are of any type, as the JSON reader returns them.
 */
final class ReaderDocument {
    static final String PATH = "/.well-known/assay-reader.json";
    /** Ours has 150. */
    static final int MAX_BYTES = 4096;
    static final int MAX_DETAILS_BYTES = 256 * 1024;
    private static final int PROTOCOL = 1;
    private static final int MAX_NAME_CHARACTERS = 100;

    private ReaderDocument() {}

    /** A redirect is no answer: it would come from another address than the one shown. */
    static boolean isAnswer(int status, String contentType) {
        String type = contentType == null ? "" : contentType.split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
        return status == 200 && type.equals("application/json");
    }

    /** Whether the service supports this app's protocol and has its pages at the link's path. */
    static boolean accepts(Object protocol, Object sessionPage) {
        return Integer.valueOf(PROTOCOL).equals(protocol) && "/verify/{session}".equals(sessionPage);
    }

    static String detailsPath(String session) {
        return "/v1/verify/session/" + session + "/details";
    }

    /**
     * The partner's name, safe to show beside the origin; null if there is none. Direction marks and
     * invisible characters could make it say something about the origin.
     */
    static String shownName(Object name) {
        if (!(name instanceof String)) return null;
        String plain = ((String) name)
                .replaceAll("[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cn}\\p{Cs}\\p{Zl}\\p{Zp}]", "")
                .replaceAll("\\p{Z}+", " ")
                .trim();
        if (plain.isEmpty()) return null;
        int count = plain.codePointCount(0, plain.length());
        return count <= MAX_NAME_CHARACTERS
                ? plain
                : plain.substring(0, plain.offsetByCodePoints(0, MAX_NAME_CHARACTERS - 1)) + "…";
    }
}
