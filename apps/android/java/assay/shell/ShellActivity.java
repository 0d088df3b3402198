package assay.shell;

import android.Manifest;
import android.app.Activity;
import android.app.AlertDialog;
import android.content.ActivityNotFoundException;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.DialogInterface;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import android.net.Network;
import android.net.Uri;
import android.nfc.NfcAdapter;
import android.os.Build;
import android.os.Bundle;
import android.provider.Settings;
import android.text.InputType;
import android.view.View;
import android.view.WindowManager;
import android.view.inputmethod.EditorInfo;
import android.webkit.CookieManager;
import android.webkit.PermissionRequest;
import android.webkit.WebStorage;
import android.webkit.WebView;
import android.widget.Button;
import android.widget.EditText;
import android.widget.FrameLayout;
import android.widget.LinearLayout;
import android.widget.TextView;
import android.widget.Toast;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The verify page of one origin, full screen, with the phone's NFC reader and camera. Nothing else is opened in here, and
 * nothing is kept: what the page stores goes when the shell is left or the session's hour is over.
 */
public final class ShellActivity extends Activity implements ChipReader.Listener, FrameVoucher.Listener, PageView.Host {
    private static final OwnOrigin OWN = new OwnOrigin(BuildConfig.ORIGIN);
    private static final int CAMERA_REQUEST = 1;
    private static final String SHOWN_PAGE = "page";

    private ChipReader reader;
    private FrameVoucher voucher;
    private Feel feel;
    private KeptState kept;
    private FrameLayout frame;
    private PageView page;
    /** The link that the page was loaded with; of what the page does to its own address only the path counts. */
    private String link;
    /** Lies over a page that could not be loaded; null when there is none. */
    private View notLoaded;
    private PermissionRequest cameraAsked;
    private AlertDialog question;

    private final BroadcastReceiver readerSwitched = new BroadcastReceiver() {
        @Override
        public void onReceive(Context context, Intent intent) {
            reader.onReaderSwitched();
            onMessage(ShellMessage.reader(reader.state()));
        }
    };
    private final ConnectivityManager.NetworkCallback networkBack = new ConnectivityManager.NetworkCallback() {
        @Override
        public void onAvailable(Network network) {
            runOnUiThread(new Runnable() {
                @Override
                public void run() {
                    if (notLoaded != null) loadAgain();
                }
            });
        }
    };

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        getWindow().addFlags(WindowManager.LayoutParams.FLAG_SECURE);
        WebView.setWebContentsDebuggingEnabled(BuildConfig.DEBUG);
        frame = new FrameLayout(this);
        frame.setFitsSystemWindows(true);
        setContentView(frame);
        feel = new Feel(this);
        reader = new ChipReader(this, NfcAdapter.getDefaultAdapter(this), this);
        voucher = new FrameVoucher(this);
        kept = new KeptState(this, System.currentTimeMillis());
        String asked = OWN.verificationLink(getIntent().getDataString());
        // When Android ended the process and now brings it back, the page goes on where it was.
        String shown = saved == null ? null : OWN.verificationLink(saved.getString(SHOWN_PAGE));
        // Also when the person comes back by the link of the same session; for any other there must be nothing left.
        if (saved == null && kept.entriesFor(OWN.pathOf(asked)) == null) forget();
        if (shown != null) showPage(shown);
        else if (asked != null) showPage(asked);
        else showEntry();
    }

    @Override
    protected void onNewIntent(Intent intent) {
        super.onNewIntent(intent);
        String asked = OWN.verificationLink(intent.getDataString());
        if (asked == null) return;
        setIntent(intent);
        if (kept.entriesFor(OWN.pathOf(asked)) == null) forget();
        showPage(asked);
    }

    @Override
    protected void onSaveInstanceState(Bundle state) {
        super.onSaveInstanceState(state);
        if (page == null) return;
        state.putString(SHOWN_PAGE, shownLink());
    }

    @Override
    protected void onStart() {
        super.onStart();
        connectivity().registerDefaultNetworkCallback(networkBack);
        // Not with onResume: the question for the camera pauses the activity, and the page waits for its answer.
        if (page != null) page.onResume();
    }

    @Override
    protected void onStop() {
        connectivity().unregisterNetworkCallback(networkBack);
        if (page != null) page.onPause();
        super.onStop();
    }

    @Override
    protected void onResume() {
        super.onResume();
        IntentFilter switched = new IntentFilter(NfcAdapter.ACTION_ADAPTER_STATE_CHANGED);
        if (Build.VERSION.SDK_INT >= 33) registerReceiver(readerSwitched, switched, Context.RECEIVER_NOT_EXPORTED);
        else registerReceiver(readerSwitched, switched);
        reader.resume();
        // The person may come back from the settings.
        onMessage(ShellMessage.reader(reader.state()));
    }

    @Override
    protected void onPause() {
        unregisterReceiver(readerSwitched);
        reader.pause();
        super.onPause();
    }

    @Override
    protected void onDestroy() {
        if (question != null) question.dismiss();
        reader.close();
        voucher.close();
        closePage();
        if (isFinishing()) forget();
        super.onDestroy();
    }

    /** Gives up a reading that waits for a chip, then goes back within the page, and asks before it leaves. */
    @Override
    public void onBackPressed() {
        if (reader.cancel()) return;
        if (page != null && page.canGoBack()) {
            page.goBack();
        } else if (page == null) {
            super.onBackPressed();
        } else {
            ask(new AlertDialog.Builder(this)
                    .setTitle(R.string.leave_title)
                    .setMessage(R.string.leave_text)
                    .setPositiveButton(R.string.leave_stay, null)
                    .setNegativeButton(R.string.leave_leave, new DialogInterface.OnClickListener() {
                        @Override
                        public void onClick(DialogInterface dialog, int which) {
                            finish();
                        }
                    }));
        }
    }

    private void ask(AlertDialog.Builder builder) {
        if (question != null) question.dismiss();
        question = builder.show();
    }

    private void forget() {
        kept.forget();
        WebStorage.getInstance().deleteAllData();
        CookieManager.getInstance().removeAllCookies(null);
    }

    private ConnectivityManager connectivity() {
        return (ConnectivityManager) getSystemService(CONNECTIVITY_SERVICE);
    }

    // --- what is shown ----------------------------------------------------------------------------------------------

    private void showEntry() {
        final EditText field = new EditText(this);
        field.setHint(R.string.entry_hint);
        field.setInputType(InputType.TYPE_CLASS_TEXT | InputType.TYPE_TEXT_VARIATION_URI);
        field.setImeOptions(EditorInfo.IME_ACTION_GO | EditorInfo.IME_FLAG_NO_PERSONALIZED_LEARNING);
        field.setImportantForAutofill(View.IMPORTANT_FOR_AUTOFILL_NO);
        Button open = button(R.string.entry_open, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                String typed = OWN.verificationLink(field.getText().toString());
                if (typed == null) field.setError(getString(R.string.entry_wrong, BuildConfig.ORIGIN));
                else showPage(typed);
            }
        });
        frame.removeAllViews();
        frame.addView(column(R.string.entry_text, field, open));
    }

    private Button button(int text, View.OnClickListener pressed) {
        Button button = new Button(this);
        button.setText(text);
        button.setOnClickListener(pressed);
        return button;
    }

    private LinearLayout column(int text, View... below) {
        int space = Math.round(24 * getResources().getDisplayMetrics().density);
        TextView words = new TextView(this);
        words.setText(text);
        words.setTextSize(18);
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        column.setPadding(space, space, space, space);
        column.addView(words);
        for (View view : below) column.addView(view);
        return column;
    }

    /** Every link gets a web view of its own: a link that differs only behind the # would not load the page anew. */
    private void showPage(String link) {
        closePage();
        this.link = link;
        page = new PageView(this, this);
        if (!PageScript.addTo(page, pageScript(OWN.pathOf(link)), BuildConfig.ORIGIN))
            Toast.makeText(this, R.string.web_view_old, Toast.LENGTH_LONG).show();
        frame.removeAllViews();
        frame.addView(page);
        page.loadUrl(link);
    }

    private void closePage() {
        reader.cancel();
        answerCamera(false);
        notLoaded = null;
        if (page == null) return;
        frame.removeAllViews();
        page.close();
        page = null;
    }

    /** The script of the asset, told what it cannot ask for before its first message. */
    private String pageScript(String path) {
        try (InputStream asset = getAssets().open("chip-transport.js")) {
            String entries = kept.entriesFor(path);
            JSONObject facts = new JSONObject()
                    .put("reader", reader.state())
                    .put("antenna", Antenna.of(NfcAdapter.getDefaultAdapter(this)))
                    .put("kept", entries == null ? JSONObject.NULL : new JSONObject(entries));
            ByteArrayOutputStream script = new ByteArrayOutputStream();
            byte[] some = new byte[4096];
            for (int count = asset.read(some); count >= 0; count = asset.read(some)) script.write(some, 0, count);
            return "{\nconst shellFacts = " + facts + ";\n" + script.toString("UTF-8") + "}\n";
        } catch (IOException | JSONException error) {
            throw new IllegalStateException("The page's script could not be put together", error);
        }
    }

    @Override
    public void onNotLoaded() {
        if (notLoaded != null) return;
        LinearLayout over = column(R.string.offline_text, button(R.string.offline_retry, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                loadAgain();
            }
        }));
        notLoaded = over;
        page.setVisibility(View.GONE);
        frame.addView(over);
    }

    /** Where the page has taken the token out of its address, the token is not to be used twice. */
    private String shownLink() {
        String now = OWN.verificationLink(page.getUrl());
        return now == null ? link : now;
    }

    private void loadAgain() {
        showPage(shownLink());
    }

    @Override
    public void onEngineGone() {
        showPage(shownLink());
    }

    @Override
    public void openElsewhere(Uri address) {
        try {
            startActivity(new Intent(Intent.ACTION_VIEW, address));
        } catch (ActivityNotFoundException error) {
            // A phone without a browser stays on the page.
        }
    }

    // --- what the page asks for -------------------------------------------------------------------------------------

    @Override
    public void onShellMessage(ShellMessage message) {
        switch (message.kind) {
            case KEEP:
                keep(message.text);
                break;
            case FEEL:
                feel.outcome(message.text.equals("read"));
                break;
            case SETTINGS:
                openReaderSettings();
                break;
            case MAKE_KEY:
            case SIGN:
                voucher.handle(message);
                break;
            default:
                reader.handle(message);
        }
    }

    private void keep(String entries) {
        try {
            // What is no object could not be given back to the page.
            if (!entries.isEmpty()) new JSONObject(entries);
            kept.keep(OWN.pathOf(shownLink()), entries, System.currentTimeMillis());
        } catch (JSONException error) {
            kept.forget();
        }
    }

    @Override
    public void onPageLeft() {
        reader.cancel();
    }

    @Override
    public void onMessage(String message) {
        if (page != null) page.tell(message);
    }

    @Override
    public void onVoucherMessage(final String message) {
        runOnUiThread(new Runnable() {
            @Override
            public void run() {
                onMessage(message);
            }
        });
    }

    @Override
    public void onContact() {
        feel.contact();
    }

    @Override
    public void onUnavailable() {
        boolean off = reader.state().equals("off");
        AlertDialog.Builder told = new AlertDialog.Builder(this)
                .setTitle(off ? R.string.nfc_off_title : R.string.nfc_absent_title)
                .setMessage(off ? R.string.nfc_off : R.string.nfc_absent)
                .setNegativeButton(R.string.nfc_close, null);
        if (off)
            told.setPositiveButton(R.string.nfc_settings, new DialogInterface.OnClickListener() {
                @Override
                public void onClick(DialogInterface dialog, int which) {
                    openReaderSettings();
                }
            });
        ask(told);
    }

    private void openReaderSettings() {
        try {
            startActivity(new Intent(Settings.ACTION_NFC_SETTINGS));
        } catch (ActivityNotFoundException error) {
            startActivity(new Intent(Settings.ACTION_SETTINGS));
        }
    }

    // --- the camera -------------------------------------------------------------------------------------------------

    @Override
    public void onCameraAsked(PermissionRequest request) {
        answerCamera(false);
        cameraAsked = request;
        if (checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED) answerCamera(true);
        else requestPermissions(new String[] {Manifest.permission.CAMERA}, CAMERA_REQUEST);
    }

    @Override
    public void onCameraNoLongerAsked(PermissionRequest request) {
        if (request == cameraAsked) cameraAsked = null;
    }

    private void answerCamera(boolean granted) {
        if (cameraAsked == null) return;
        if (granted) cameraAsked.grant(new String[] {PermissionRequest.RESOURCE_VIDEO_CAPTURE});
        else cameraAsked.deny();
        cameraAsked = null;
    }

    @Override
    public void onRequestPermissionsResult(int request, String[] permissions, int[] results) {
        if (request != CAMERA_REQUEST) return;
        answerCamera(results.length == 1 && results[0] == PackageManager.PERMISSION_GRANTED);
    }
}
