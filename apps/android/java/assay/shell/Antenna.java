package assay.shell;

import android.nfc.AvailableNfcAntenna;
import android.nfc.NfcAdapter;
import android.nfc.NfcAntennaInfo;
import android.os.Build;
import org.json.JSONException;
import org.json.JSONObject;

/** Where the phone's back reads best, for the page's pictures. */
final class Antenna {
    private Antenna() {}

    /**
     * `chipTransport.antenna`: from Android 14 on the phone may report the position. Before, only the maker
     * is known: most have it beside the camera, one large maker in the middle of the back.
     */
    static JSONObject of(NfcAdapter adapter) throws JSONException {
        JSONObject told = adapter != null && Build.VERSION.SDK_INT >= 34 ? tellingPhone(adapter) : null;
        return told != null ? told : place("samsung".equalsIgnoreCase(Build.MANUFACTURER) ? 0.5 : 0.2, 0.5, "maker");
    }

    private static JSONObject tellingPhone(NfcAdapter adapter) throws JSONException {
        NfcAntennaInfo info;
        try {
            info = adapter.getNfcAntennaInfo();
        } catch (RuntimeException error) {
            // Declared for every phone of that version, and not made by every maker.
            return null;
        }
        if (info == null || info.getAvailableNfcAntennas().isEmpty()) return null;
        if (info.getDeviceWidth() <= 0 || info.getDeviceHeight() <= 0) return null;
        AvailableNfcAntenna first = info.getAvailableNfcAntennas().get(0);
        // Millimetres, from the bottom left of an upright phone whose screen one looks at.
        double fromLeft = (double) first.getLocationX() / info.getDeviceWidth();
        double fromTop = 1 - (double) first.getLocationY() / info.getDeviceHeight();
        if (fromLeft < 0 || fromLeft > 1 || fromTop < 0 || fromTop > 1) return null;
        return place(fromTop, fromLeft, "phone");
    }

    private static JSONObject place(double fromTop, double fromLeft, String toldBy) throws JSONException {
        String at = fromTop < 1.0 / 3 ? "top" : fromTop < 2.0 / 3 ? "middle" : "bottom";
        return new JSONObject()
                .put("at", at)
                .put("fromTop", fromTop)
                .put("fromLeft", fromLeft)
                .put("toldBy", toldBy);
    }
}
