package dynamometer;

import java.util.List;

/**
 * What code that runs DynamoDB Local inside of its JVM calls; only its imports change. The server is
 * a process of its own, that of the command {@code dynamometer} or of the variable DYNAMOMETER.
 */
public final class ServerRunner {
    private ServerRunner() {}

    /** A server, not yet started, with DynamoDB Local's options or those of {@code dynamometer serve}. */
    public static DynamoDBProxyServer createServerFromCommandLineArgs(String[] options) {
        List<String> words = DynamoDBProxyServer.command();
        words.add("serve");
        words.addAll(List.of(options));
        return new DynamoDBProxyServer(words);
    }

    /** Runs a server until it ends, as the jar of DynamoDB Local does. */
    public static void main(String[] options) throws Exception {
        DynamoDBProxyServer server = createServerFromCommandLineArgs(options);
        server.start();
        System.exit(server.join());
    }
}
