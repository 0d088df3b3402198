import UIKit
import WebKit

/// The verify page of one session, full screen, with the phone's chip reader and camera. Nothing else is
/// opened, and nothing is written to disk: the web view has no store, and the page's state is in the
/// keychain.
final class PageController: UIViewController, WKNavigationDelegate, WKUIDelegate, WKScriptMessageHandlerWithReply {
    private let link: ReaderLink
    private let own: OwnOrigin
    private let allowed: [String]
    private let reader = ChipReader()
    private let onFailure: () -> Void
    private var kept: KeptState?
    private var web: WKWebView?
    private var isLoaded = false
    /// Over the page while the app is in the background, where the system takes a picture for its overview.
    private let cover = UIView()

    /// `onFailure` is called when the page could not be loaded.
    init(link: ReaderLink, allowed: [String], kept: KeptState?, onFailure: @escaping () -> Void) {
        self.link = link
        own = link.origin
        self.allowed = allowed
        self.kept = kept
        self.onFailure = onFailure
        super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) {
        fatalError("The shell has no storyboard")
    }

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .systemBackground
        let web = makeWebView()
        self.web = web
        for part in [web, cover] {
            part.translatesAutoresizingMaskIntoConstraints = false
            view.addSubview(part)
            NSLayoutConstraint.activate([
                part.topAnchor.constraint(equalTo: view.safeAreaLayoutGuide.topAnchor),
                part.bottomAnchor.constraint(equalTo: view.bottomAnchor),
                part.leadingAnchor.constraint(equalTo: view.leadingAnchor),
                part.trailingAnchor.constraint(equalTo: view.trailingAnchor),
            ])
        }
        cover.backgroundColor = .systemBackground
        cover.isHidden = true
        web.load(URLRequest(url: link.url))
    }

    func covered(_ covered: Bool) {
        cover.isHidden = !covered
    }

    /// The reader's sheet and the camera do not outlive the page.
    func close() {
        reader.cancel()
        web?.stopLoading()
        web?.configuration.userContentController.removeAllScriptMessageHandlers()
        web?.removeFromSuperview()
        web = nil
    }

    private func makeWebView() -> WKWebView {
        let configuration = WKWebViewConfiguration()
        configuration.websiteDataStore = .nonPersistent()
        configuration.allowsInlineMediaPlayback = true
        configuration.mediaTypesRequiringUserActionForPlayback = []
        let content = configuration.userContentController
        content.addScriptMessageHandler(self, contentWorld: .page, name: "chip")
        content.addUserScript(
            WKUserScript(
                source: KeptState.script(Self.chipTransport, readerAvailable: ChipReader.isAvailable, kept: kept),
                injectionTime: .atDocumentStart,
                forMainFrameOnly: true,
                in: .page
            )
        )
        let web = WKWebView(frame: .zero, configuration: configuration)
        web.navigationDelegate = self
        web.uiDelegate = self
        web.allowsLinkPreview = false
        web.allowsBackForwardNavigationGestures = false
        #if DEBUG
        if #available(iOS 16.4, *) { web.isInspectable = true }
        #endif
        return web
    }

    private static let chipTransport: String = {
        guard let url = Bundle.main.url(forResource: "chip-transport", withExtension: "js"),
            let source = try? String(contentsOf: url, encoding: .utf8)
        else { fatalError("The app holds no chip-transport.js") }
        return source
    }()

    // MARK: - the bridge

    func userContentController(
        _ userContentController: WKUserContentController,
        didReceive message: WKScriptMessage
    ) async -> (Any?, String?) {
        let origin = message.frameInfo.securityOrigin
        guard message.frameInfo.isMainFrame,
            own.owns(scheme: origin.protocol, host: origin.host, port: origin.port),
            let text = message.body as? String,
            let parsed = ShellMessage(text)
        else { return (nil, "The shell does not know this") }
        let reply = await answer(parsed)
        return (reply.text(applicationSelected: reader.applicationSelected), nil)
    }

    private func answer(_ message: ShellMessage) async -> ShellReply {
        switch message {
        case .transceive(let command):
            return await withCheckedContinuation { waiting in
                reader.transceive(command) { waiting.resume(returning: $0) }
            }
        case .reset:
            return await withCheckedContinuation { waiting in
                reader.reset { waiting.resume(returning: $0) }
            }
        case .cancel: reader.cancel()
        case .progress(let step, let percent): reader.show(step, percent: percent)
        case .keep(let entries): keep(entries)
        }
        return .done
    }

    private func keep(_ entries: String) {
        guard let shown = ReaderLink.parse(web?.url?.absoluteString, allowed: allowed), shown.origin == own else { return }
        kept = KeptState.after(kept, place: shown.place, entries: entries, now: Date())
        Keychain.store(kept)
    }

    // MARK: - the camera

    /// `requestMediaCapturePermissionFor` in its asynchronous form. The system asks the person; no microphone
    /// is needed.
    func webView(
        _ webView: WKWebView,
        decideMediaCapturePermissionsFor origin: WKSecurityOrigin,
        initiatedBy frame: WKFrameInfo,
        type: WKMediaCaptureType
    ) async -> WKPermissionDecision {
        let isOurs = frame.isMainFrame && own.owns(scheme: origin.protocol, host: origin.host, port: origin.port)
        return isOurs && type == .camera ? .grant : .deny
    }

    // MARK: - what is loaded

    func webView(
        _ webView: WKWebView,
        decidePolicyFor navigationAction: WKNavigationAction
    ) async -> WKNavigationActionPolicy {
        let url = navigationAction.request.url
        let frame = navigationAction.targetFrame
        // Without a frame it is a link for a new window, which is not supported.
        if frame != nil, own.owns(url) { return .allow }
        if frame?.isMainFrame ?? true {
            // A loaded page may lead to the partner.
            // Before that, it is a redirect by the service, which is refused.
            if isLoaded { openElsewhere(url) } else { onFailure() }
        }
        return .cancel
    }

    func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {
        isLoaded = true
    }

    func webView(
        _ webView: WKWebView,
        createWebViewWith configuration: WKWebViewConfiguration,
        for navigationAction: WKNavigationAction,
        windowFeatures: WKWindowFeatures
    ) -> WKWebView? {
        nil
    }

    private func openElsewhere(_ url: URL?) {
        guard let url, url.scheme == "https" || url.scheme == "http" else { return }
        UIApplication.shared.open(url)
    }

    func webView(_ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: Error) {
        // A navigation that was refused above or replaced by another is no failure of the network.
        let code = (error as NSError).code
        if code == NSURLErrorCancelled || code == Self.frameLoadInterrupted { return }
        onFailure()
    }

    private static let frameLoadInterrupted = 102

    func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
        webView.reload()
    }
}
