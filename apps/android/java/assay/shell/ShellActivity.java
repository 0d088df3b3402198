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
import android.view.Gravity;
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
import android.widget.ProgressBar;
import android.widget.ScrollView;
import android.widget.TextView;
import android.widget.Toast;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The verify page of one session, full screen, with the phone's NFC reader and camera. An app built for one
 * origin opens its links at once; any other asks the person first. Only the session's origin is opened.
 * Stored data is deleted when the person leaves the shell or the session's hour is over.
 */
public final class ShellActivity extends Activity
        implements ChipReader.Listener, FrameVoucher.Listener, PageView.Host, OriginCheck.Listener, ScanView.Host {
    private static final int CAMERA_REQUEST = 1;
    private static final int SCAN_REQUEST = 2;
    private static final String SHOWN_PAGE = "page";

    private ChipReader reader;
    private FrameVoucher voucher;
    private Feel feel;
    private KeptState kept;
    private OriginCheck check;
    private FrameLayout frame;
    private PageView page;
    /**
     * The link that the page was loaded with;
     * of changes that the page makes to its address only the path counts.
     */
    private ReaderLink link;
    /** A link whose origin could not be asked yet; null when there is none. */
    private ReaderLink unasked;
    /** Lies over a page that could not be loaded; null when there is none. */
    private View notLoaded;
    private PermissionRequest cameraAsked;
    /** The person wants to scan and is asked for the camera. */
    private boolean scanAsked;
    /** The scanner; null while it is not shown. */
    private ScanView scanner;
    /** Why the code before the scanner is not opened. */
    private TextView scanProblem;
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
                    if (unasked != null) askWhetherToOpen(unasked);
                    else if (notLoaded != null) loadAgain();
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
        check = new OriginCheck(this);
        feel = new Feel(this);
        reader = new ChipReader(this, NfcAdapter.getDefaultAdapter(this), this);
        voucher = new FrameVoucher(this);
        kept = new KeptState(this, System.currentTimeMillis());
        ReaderLink asked = readLink(getIntent().getDataString());
        // After Android ended and restored the process, the page continues where it was.
        ReaderLink shown = saved == null ? null : readLink(saved.getString(SHOWN_PAGE));
        // Also when the person returns by the link of the same session; for any other, nothing may be left.
        if (saved == null && !isKept(asked)) forget();
        if (shown != null) showPage(shown);
        else if (asked != null) open(asked);
        else showEntry(getIntent().getData() == null ? null : getString(R.string.entry_wrong));
    }

    private static ReaderLink readLink(String text) {
        return ReaderLink.parse(text, BuildConfig.ORIGINS, BuildConfig.DEBUG);
    }

    private boolean isKept(ReaderLink asked) {
        return asked != null && kept.entriesFor(asked.place()) != null;
    }

    /** A session that was begun here within the hour was agreed to then. */
    private void open(ReaderLink asked) {
        if (BuildConfig.ASKS && !isKept(asked)) askWhetherToOpen(asked);
        else showPage(asked);
    }

    @Override
    protected void onNewIntent(Intent intent) {
        super.onNewIntent(intent);
        ReaderLink asked = readLink(intent.getDataString());
        if (asked == null) return;
        setIntent(intent);
        if (!isKept(asked)) forget();
        open(asked);
    }

    @Override
    protected void onSaveInstanceState(Bundle state) {
        super.onSaveInstanceState(state);
        if (page == null) return;
        state.putString(SHOWN_PAGE, shownLink().address);
    }

    @Override
    protected void onStart() {
        super.onStart();
        connectivity().registerDefaultNetworkCallback(networkBack);
        // Not with onResume: the camera permission dialogue pauses the activity,
        // and the page waits for its answer.
        if (page != null) page.onResume();
    }

    @Override
    protected void onStop() {
        connectivity().unregisterNetworkCallback(networkBack);
        if (page != null) page.onPause();
        // The camera stops when its picture is no longer seen.
        if (scanner != null) showEntry(null);
        super.onStop();
    }

    @Override
    protected void onResume() {
        super.onResume();
        IntentFilter switched = new IntentFilter(NfcAdapter.ACTION_ADAPTER_STATE_CHANGED);
        if (Build.VERSION.SDK_INT >= 33) registerReceiver(readerSwitched, switched, Context.RECEIVER_NOT_EXPORTED);
        else registerReceiver(readerSwitched, switched);
        reader.resume();
        // The person may return from the settings.
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
        closeAll();
        reader.close();
        voucher.close();
        if (isFinishing()) forget();
        super.onDestroy();
    }

    /** Aborts a reading that waits for a chip, then goes back within the page, and asks before it leaves. */
    @Override
    public void onBackPressed() {
        if (reader.cancel()) return;
        if (page != null && page.canGoBack()) {
            page.goBack();
        } else if (scanner != null) {
            showEntry(null);
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

    // --- what is shown -------------------------------------------------------------------------------------

    /** `problem`: why the last link was not opened, or null. */
    private void showEntry(String problem) {
        final EditText field = new EditText(this);
        field.setHint(R.string.entry_hint);
        field.setInputType(InputType.TYPE_CLASS_TEXT | InputType.TYPE_TEXT_VARIATION_URI);
        field.setImeOptions(EditorInfo.IME_ACTION_GO | EditorInfo.IME_FLAG_NO_PERSONALIZED_LEARNING);
        field.setImportantForAutofill(View.IMPORTANT_FOR_AUTOFILL_NO);
        Button open = button(R.string.entry_open, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                ReaderLink typed = readLink(field.getText().toString());
                if (typed == null) field.setError(getString(R.string.entry_wrong));
                else open(typed);
            }
        });
        closeAll();
        Button scanCode = button(R.string.entry_scan, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                startScan();
            }
        });
        LinearLayout column = column(words(R.string.entry_text), scanCode, field, open);
        if (problem != null) column.addView(words(problem), 0);
        frame.addView(column);
    }

    private void startScan() {
        if (checkSelfPermission(Manifest.permission.CAMERA) == PackageManager.PERMISSION_GRANTED) {
            showScanner();
            return;
        }
        // Android answers a second request at once with a refusal, so a double tap must not make one.
        if (scanAsked) return;
        scanAsked = true;
        requestPermissions(new String[] {Manifest.permission.CAMERA}, SCAN_REQUEST);
    }

    private void showScanner() {
        closeAll();
        scanner = new ScanView(this, this);
        scanProblem = words("");
        scanProblem.setAccessibilityLiveRegion(View.ACCESSIBILITY_LIVE_REGION_POLITE);
        Button back = button(R.string.scan_back, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                showEntry(null);
            }
        });
        LinearLayout column = column(words(R.string.scan_text), scanProblem, back);
        column.addView(scanner, 1, new LinearLayout.LayoutParams(LinearLayout.LayoutParams.MATCH_PARENT, 0, 1));
        frame.addView(column);
    }

    /** A code is as good as a pasted link: the same rules, and the same question to the person. */
    @Override
    public void onScanned(String text) {
        ReaderLink scanned = readLink(text);
        if (scanned == null) scanProblem.setText(R.string.entry_wrong);
        else open(scanned);
    }

    @Override
    public void onNoCamera() {
        showEntry(getString(R.string.scan_no_camera));
    }

    /** Opens nothing of the origin before it has answered as a verification service and the person has agreed. */
    private void askWhetherToOpen(ReaderLink asked) {
        closeAll();
        frame.addView(new ProgressBar(this), new FrameLayout.LayoutParams(-2, -2, Gravity.CENTER));
        check.start(asked);
    }

    @Override
    public void onKnown(final ReaderLink asked, String partner) {
        TextView title = words(getString(R.string.ask_title, hostOf(asked)));
        title.setTextSize(24);
        title.setAccessibilityHeading(true);
        // The marks keep the order of its letters apart from that of the sentence around it.
        TextView name = words(getString(R.string.ask_partner, "\u2068" + partner + "\u2069"));
        Button agree = button(R.string.ask_agree, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                showPage(asked);
            }
        });
        // Another app may lay a window over this one, and have the person agree to what they do not see.
        agree.setFilterTouchesWhenObscured(true);
        Button decline = button(R.string.ask_decline, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                setIntent(new Intent(Intent.ACTION_MAIN));
                forget();
                showEntry(null);
            }
        });
        frame.removeAllViews();
        ScrollView scroll = new ScrollView(this);
        scroll.addView(column(title, name, words(R.string.ask_text), agree, decline));
        frame.addView(scroll);
    }

    private static String hostOf(ReaderLink asked) {
        return "\u2066" + asked.origin.shown() + "\u2069";
    }

    @Override
    public void onRefused(ReaderLink asked) {
        setIntent(new Intent(Intent.ACTION_MAIN));
        showEntry(getString(R.string.ask_refused, hostOf(asked)));
    }

    @Override
    public void onUnreachable(final ReaderLink asked) {
        unasked = asked;
        frame.removeAllViews();
        frame.addView(column(words(R.string.offline_text), button(R.string.offline_retry, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                askWhetherToOpen(asked);
            }
        })));
    }

    private Button button(int text, View.OnClickListener pressed) {
        Button button = new Button(this);
        button.setText(text);
        button.setOnClickListener(pressed);
        return button;
    }

    private TextView words(int text) {
        return words(getString(text));
    }

    private TextView words(String text) {
        TextView words = new TextView(this);
        words.setText(text);
        words.setTextSize(18);
        words.setPadding(0, 0, 0, space() / 2);
        return words;
    }

    private int space() {
        return Math.round(24 * getResources().getDisplayMetrics().density);
    }

    private LinearLayout column(View... views) {
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        column.setPadding(space(), space(), space(), space());
        for (View view : views) column.addView(view);
        return column;
    }

    /** Every link gets a new web view: a link that differs only after the # would not reload the page. */
    private void showPage(ReaderLink link) {
        closeAll();
        this.link = link;
        page = new PageView(this, link.origin, this);
        if (!PageScript.addTo(page, pageScript(link.place()), link.origin.toString()))
            Toast.makeText(this, R.string.web_view_old, Toast.LENGTH_LONG).show();
        frame.addView(page);
        page.loadUrl(link.address);
    }

    /** Closes the page, open questions and pending requests. */
    private void closeAll() {
        check.cancel();
        unasked = null;
        reader.cancel();
        answerCamera(false);
        scanAsked = false;
        notLoaded = null;
        frame.removeAllViews();
        if (scanner != null) scanner.close();
        scanner = null;
        if (page == null) return;
        page.close();
        page = null;
    }

    /** The asset's script, with the facts that it cannot request before its first message. */
    private String pageScript(String place) {
        try (InputStream asset = getAssets().open("chip-transport.js")) {
            String entries = kept.entriesFor(place);
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
        LinearLayout over = column(words(R.string.offline_text), button(R.string.offline_retry, new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                loadAgain();
            }
        }));
        notLoaded = over;
        page.setVisibility(View.GONE);
        frame.addView(over);
    }

    /** Once the page has removed the token from its address, the token must not be used again. */
    private ReaderLink shownLink() {
        ReaderLink now = readLink(page.getUrl());
        return now == null || !link.origin.owns(now.address) ? link : now;
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

    // --- what the page asks for ----------------------------------------------------------------------------

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
            // A value that is no object could not be restored to the page.
            if (!entries.isEmpty()) new JSONObject(entries);
            kept.keep(shownLink().place(), entries, System.currentTimeMillis());
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

    // --- the camera ----------------------------------------------------------------------------------------

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
        boolean granted = results.length == 1 && results[0] == PackageManager.PERMISSION_GRANTED;
        if (request == CAMERA_REQUEST) answerCamera(granted);
        // A link that came meanwhile goes first.
        else if (request == SCAN_REQUEST && scanAsked && granted) showScanner();
        else if (request == SCAN_REQUEST && scanAsked) onNoCamera();
    }
}
