import AVFoundation
import Foundation

/// What the codes before the camera say. The system reads them; pictures never come out of it. Everything but
/// starting and stopping happens on the main queue.
final class CodeReader: NSObject, AVCaptureMetadataOutputObjectsDelegate {
    let session = AVCaptureSession()
    private let onText: (String) -> Void
    /// Starting and stopping wait for the camera.
    private let queue = DispatchQueue(label: "assay.camera")
    private var last: String?

    /// `onText` gets whatever stands in a code, each text once until another one is seen.
    init(onText: @escaping (String) -> Void) {
        self.onText = onText
    }

    /// False without a camera that reads QR codes. The person must have allowed it before.
    func start() -> Bool {
        let output = AVCaptureMetadataOutput()
        guard let camera = AVCaptureDevice.default(for: .video), let input = try? AVCaptureDeviceInput(device: camera),
            session.canAddInput(input), session.canAddOutput(output)
        else { return false }
        session.addInput(input)
        session.addOutput(output)
        // Known only once the output belongs to a camera; any other type would end the app.
        guard output.availableMetadataObjectTypes.contains(.qr) else { return false }
        output.metadataObjectTypes = [.qr]
        output.setMetadataObjectsDelegate(self, queue: .main)
        queue.async { [session] in session.startRunning() }
        return true
    }

    func stop() {
        queue.async { [session] in session.stopRunning() }
    }

    func metadataOutput(
        _ output: AVCaptureMetadataOutput,
        didOutput metadataObjects: [AVMetadataObject],
        from connection: AVCaptureConnection
    ) {
        for object in metadataObjects {
            guard let text = (object as? AVMetadataMachineReadableCodeObject)?.stringValue, text != last else { continue }
            last = text
            return onText(text)
        }
    }
}
