package assay.shell;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A software chip of packages/emrtd in another process: one line per command and per answer, in hexadecimal.
 */
final class VirtualDocument implements FieldIsoDep.Document {
    private final BufferedReader answers;
    private final OutputStream commands;

    VirtualDocument(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        commands = socket.getOutputStream();
    }

    @Override
    public synchronized byte[] transceive(byte[] command) throws IOException {
        StringBuilder hex = new StringBuilder();
        for (byte value : command) hex.append(String.format("%02x", value));
        String answer = ask(hex.toString());
        byte[] bytes = new byte[answer.length() / 2];
        for (int index = 0; index < bytes.length; index++)
            bytes[index] = (byte) Integer.parseInt(answer.substring(2 * index, 2 * index + 2), 16);
        return bytes;
    }

    @Override
    public synchronized void powerUp() throws IOException {
        ask("reset");
    }

    private String ask(String line) throws IOException {
        commands.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        commands.flush();
        String answer = answers.readLine();
        if (answer == null) throw new IOException("The chip's process is gone");
        return answer;
    }
}
