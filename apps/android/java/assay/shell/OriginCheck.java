package assay.shell;

import android.os.Handler;
import android.os.Looper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import org.json.JSONException;
import org.json.JSONObject;

/** Asks an origin, before opening its page, whether it is a verification service and who wants to read. */
final class OriginCheck {
    interface Listener {
        void onKnown(ReaderLink link, String partner);

        /** It answered, but not as a verification service that has this session. */
        void onRefused(ReaderLink link);

        void onUnreachable(ReaderLink link);
    }

    /** Shorter: a phone with a weak signal gives up. Longer: people wait needlessly. */
    private static final int TIMEOUT_MILLISECONDS = 15_000;

    private final Listener listener;
    private final Handler main = new Handler(Looper.getMainLooper());
    private int current;

    OriginCheck(Listener listener) {
        this.listener = listener;
    }

    void start(final ReaderLink link) {
        final int number = ++current;
        Thread thread = new Thread(new Runnable() {
            @Override
            public void run() {
                try {
                    finish(number, link, partnerOf(link), true);
                } catch (JSONException error) {
                    finish(number, link, null, true);
                } catch (IOException | RuntimeException error) {
                    finish(number, link, null, false);
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Ignores answers that arrive from now on. */
    void cancel() {
        current++;
    }

    private void finish(final int number, final ReaderLink link, final String partner, final boolean reached) {
        main.post(new Runnable() {
            @Override
            public void run() {
                if (number != current) return;
                if (!reached) listener.onUnreachable(link);
                else if (partner == null) listener.onRefused(link);
                else listener.onKnown(link, partner);
            }
        });
    }

    /** Null where it is no service that this app reads for, or has no such session. */
    private static String partnerOf(ReaderLink link) throws IOException, JSONException {
        JSONObject document = fetch(link.origin + ReaderDocument.PATH, ReaderDocument.MAX_BYTES);
        if (document == null || !ReaderDocument.accepts(document.opt("protocol"), document.opt("session_page")))
            return null;
        JSONObject details =
                fetch(link.origin + ReaderDocument.detailsPath(link.session), ReaderDocument.MAX_DETAILS_BYTES);
        if (details == null) return null;
        return ReaderDocument.shownName(
                details.getJSONObject("data").getJSONObject("organization").opt("name"));
    }

    /** Null for every answer but a JSON object of the usual size at this very address. */
    private static JSONObject fetch(String address, int maxBytes) throws IOException, JSONException {
        HttpURLConnection connection = (HttpURLConnection) new URL(address).openConnection();
        try {
            connection.setInstanceFollowRedirects(false);
            connection.setUseCaches(false);
            connection.setConnectTimeout(TIMEOUT_MILLISECONDS);
            connection.setReadTimeout(TIMEOUT_MILLISECONDS);
            connection.setRequestProperty("accept", "application/json");
            int status = connection.getResponseCode();
            if (status == 429 || status >= 500) throw new IOException("Try again later");
            if (!ReaderDocument.isAnswer(status, connection.getContentType())) return null;
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            byte[] some = new byte[4096];
            try (InputStream body = connection.getInputStream()) {
                for (int count = body.read(some); count >= 0; count = body.read(some)) {
                    bytes.write(some, 0, count);
                    if (bytes.size() > maxBytes) return null;
                }
            }
            return new JSONObject(new String(bytes.toByteArray(), StandardCharsets.UTF_8));
        } finally {
            connection.disconnect();
        }
    }
}
