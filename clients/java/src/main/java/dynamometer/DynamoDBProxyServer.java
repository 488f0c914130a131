package dynamometer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** A server that a JVM starts beside itself, and that ends with it. */
public class DynamoDBProxyServer implements AutoCloseable {
    private final List<String> words;
    private Process process;
    private String url;

    DynamoDBProxyServer(List<String> words) {
        this.words = words;
    }

    /** Starts, and returns when the server answers. */
    public void start() throws IOException {
        process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int start = line.indexOf("http://");
            if (start >= 0) {
                url = line.substring(start).split(" ", 2)[0];
                Thread rest = new Thread(() -> lines.lines().forEach(System.out::println));
                rest.setDaemon(true);
                rest.start();
                return;
            }
        }
        throw new IOException("dynamometer ended before it answered: " + String.join(" ", words));
    }

    /** What an SDK takes as its endpoint. */
    public String url() {
        return url;
    }

    /** The routes for tests of the server. */
    public Control control() {
        return new Control(url);
    }

    /** Returns when the server has ended. */
    public int join() throws InterruptedException {
        return process.waitFor();
    }

    /**
     * Ends the server in good order.
     *
     * @throws IllegalStateException if a test failed by {@code --budget} or {@code --fail-on}
     */
    public void stop() {
        process.destroy();
        if (process.onExit().join().exitValue() == 1) {
            throw new IllegalStateException("dynamometer: tests failed, as printed above");
        }
    }

    @Override
    public void close() {
        stop();
    }

    static List<String> command() {
        String words = System.getenv("DYNAMOMETER");
        return new ArrayList<>(List.of((words == null ? "dynamometer" : words).trim().split(" +")));
    }
}
