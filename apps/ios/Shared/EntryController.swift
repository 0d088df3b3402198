import UIKit

/// The screen without a session: how to start one, the scanner, and a field for a link.
final class EntryController: UIViewController, UITextFieldDelegate {
    private let read: (String?) -> ReaderLink?
    private let onLink: (ReaderLink) -> Void
    private let onScan: () -> Void
    private let field = UITextField()
    private let problem = UILabel()
    private let link: ReaderLink?
    private let said: String?

    /// `link` can be tried again; `problem` says why the last one was not opened.
    init(
        link: ReaderLink?,
        problem: String?,
        read: @escaping (String?) -> ReaderLink?,
        onLink: @escaping (ReaderLink) -> Void,
        onScan: @escaping () -> Void
    ) {
        self.link = link
        said = problem
        self.read = read
        self.onLink = onLink
        self.onScan = onScan
        super.init(nibName: nil, bundle: nil)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) {
        fatalError("The shell has no storyboard")
    }

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .systemBackground
        let words = label(TextKey.entryText.text)
        problem.numberOfLines = 0
        problem.font = .preferredFont(forTextStyle: .body)
        problem.adjustsFontForContentSizeCategory = true
        problem.textColor = .systemRed
        field.placeholder = TextKey.entryHint.text
        field.borderStyle = .roundedRect
        field.font = .preferredFont(forTextStyle: .body)
        field.adjustsFontForContentSizeCategory = true
        field.keyboardType = .URL
        field.autocorrectionType = .no
        field.autocapitalizationType = .none
        field.spellCheckingType = .no
        field.returnKeyType = .go
        field.delegate = self
        let scan = button(TextKey.entryScan.text) { [weak self] in self?.onScan() }
        let open = button(TextKey.entryOpen.text) { [weak self] in self?.openTyped() }
        let column = UIStackView(arrangedSubviews: [words, scan, field, problem, open])
        column.axis = .vertical
        column.spacing = 16
        column.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(column)
        NSLayoutConstraint.activate([
            column.topAnchor.constraint(equalTo: view.safeAreaLayoutGuide.topAnchor, constant: 32),
            column.leadingAnchor.constraint(equalTo: view.layoutMarginsGuide.leadingAnchor),
            column.trailingAnchor.constraint(equalTo: view.layoutMarginsGuide.trailingAnchor),
        ])
        field.text = link?.url.absoluteString
        problem.text = said
    }

    func textFieldShouldReturn(_ textField: UITextField) -> Bool {
        openTyped()
        return true
    }

    private func openTyped() {
        guard let link = read(field.text) else {
            problem.text = TextKey.entryWrong.text
            UIAccessibility.post(notification: .announcement, argument: problem.text)
            return
        }
        field.resignFirstResponder()
        onLink(link)
    }

    private func button(_ title: String, _ pressed: @escaping () -> Void) -> UIButton {
        let button = UIButton(type: .system)
        button.setTitle(title, for: .normal)
        button.titleLabel?.font = .preferredFont(forTextStyle: .headline)
        button.addAction(UIAction { _ in pressed() }, for: .touchUpInside)
        return button
    }

    private func label(_ text: String) -> UILabel {
        let label = UILabel()
        label.text = text
        label.numberOfLines = 0
        label.font = .preferredFont(forTextStyle: .body)
        label.adjustsFontForContentSizeCategory = true
        return label
    }
}
