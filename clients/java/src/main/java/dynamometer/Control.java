package dynamometer;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The routes for tests of a server, whoever has started it. Answers are JSON, as the server gives it. */
public class Control {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private final String url;

    /** The routes of the server at an address. */
    public Control(String url) {
        this.url = url;
    }

    /** Counts calls for a test from now on, until {@link #end}. */
    public void begin(String test) {
        post("tests", "{\"begin\": " + quoted(test) + "}");
    }

    /**
     * Ends a test.
     *
     * @return its record; its {@code failures} are what the server was told to fail tests for
     */
    public String end(String test) {
        return post("tests", "{\"end\": " + quoted(test) + "}");
    }

    /** Deletes all data. */
    public void reset() {
        post("reset", "{}");
    }

    /**
     * Keeps the present state.
     *
     * @return the answer, which {@link #restore} takes
     */
    public String snapshot() {
        return post("snapshot", "{}");
    }

    /** Goes back to what {@link #snapshot} has kept. */
    public void restore(String snapshot) {
        post("snapshot/restore", snapshot);
    }

    /** Lets time pass, of a server that was started with {@code --clock manual}. */
    public void advance(double seconds) {
        post("clock", "{\"advance\": " + seconds + "}");
    }

    /** Stops the server in good order. */
    public void stop() {
        post("stop", "{}");
    }

    private String post(String route, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/_emulator/" + route))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        try {
            HttpResponse<String> answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new IllegalStateException("dynamometer: " + answer.body());
            }
            return answer.body();
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException("dynamometer does not answer at " + url, error);
        }
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
