import AVFoundation
import UIKit

/// The camera's picture, for the code on another screen. Codes follow the rules for pasted links.
final class ScanController: UIViewController {
    enum Answer { case scanned(ReaderLink), back, noCamera }

    private let read: (String?) -> ReaderLink?
    private let onAnswer: (Answer) -> Void
    private let frame = UIView()
    private let problem = UILabel()
    private var picture: AVCaptureVideoPreviewLayer?
    private var reader: CodeReader?

    init(read: @escaping (String?) -> ReaderLink?, onAnswer: @escaping (Answer) -> Void) {
        self.read = read
        self.onAnswer = onAnswer
        super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) {
        fatalError("The shell has no storyboard")
    }

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .systemBackground
        let words = UILabel()
        words.text = TextKey.scanText.text
        for label in [words, problem] {
            label.numberOfLines = 0
            label.font = .preferredFont(forTextStyle: .body)
            label.adjustsFontForContentSizeCategory = true
        }
        problem.textColor = .systemRed
        let back = UIButton(type: .system)
        back.setTitle(TextKey.scanBack.text, for: .normal)
        back.titleLabel?.font = .preferredFont(forTextStyle: .headline)
        back.addAction(UIAction { [weak self] _ in self?.answer(.back) }, for: .touchUpInside)
        let column = UIStackView(arrangedSubviews: [words, frame, problem, back])
        column.axis = .vertical
        column.spacing = 16
        column.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(column)
        NSLayoutConstraint.activate([
            column.topAnchor.constraint(equalTo: view.safeAreaLayoutGuide.topAnchor, constant: 32),
            column.bottomAnchor.constraint(equalTo: view.safeAreaLayoutGuide.bottomAnchor),
            column.leadingAnchor.constraint(equalTo: view.layoutMarginsGuide.leadingAnchor),
            column.trailingAnchor.constraint(equalTo: view.layoutMarginsGuide.trailingAnchor),
        ])
        Task { [weak self] in
            // The system asks the person once, and remembers the answer.
            let isAllowed = await AVCaptureDevice.requestAccess(for: .video)
            self?.start(isAllowed)
        }
    }

    override func viewDidLayoutSubviews() {
        super.viewDidLayoutSubviews()
        picture?.frame = frame.bounds
    }

    /// The camera does not outlive the screen.
    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        stop()
    }

    private func start(_ isAllowed: Bool) {
        let reader = CodeReader { [weak self] in self?.scanned($0) }
        guard isAllowed, reader.start() else { return answer(.noCamera) }
        self.reader = reader
        let picture = AVCaptureVideoPreviewLayer(session: reader.session)
        picture.videoGravity = .resizeAspectFill
        picture.frame = frame.bounds
        frame.layer.addSublayer(picture)
        self.picture = picture
    }

    private func stop() {
        reader?.stop()
        reader = nil
    }

    private func answer(_ answer: Answer) {
        stop()
        onAnswer(answer)
    }

    private func scanned(_ text: String) {
        // A code may still be on its way when the camera was stopped.
        guard reader != nil else { return }
        if let link = read(text) { return answer(.scanned(link)) }
        problem.text = TextKey.entryWrong.text
        UIAccessibility.post(notification: .announcement, argument: problem.text)
    }
}
