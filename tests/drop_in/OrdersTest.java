import dynamometer.Control;
import dynamometer.DynamoDBProxyServer;
import dynamometer.ServerRunner;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** A program as those that run DynamoDB Local inside of their JVM; the imports are all that differs. */
public class OrdersTest {
    private static String url;

    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer server = ServerRunner.createServerFromCommandLineArgs(
                new String[] {"-inMemory", "-port", "0", "--fail-on", "scan"});
        server.start();
        url = server.url();
        Control control = server.control();
        call("CreateTable", "{\"TableName\": \"orders\", \"BillingMode\": \"PAY_PER_REQUEST\","
                + "\"KeySchema\": [{\"AttributeName\": \"pk\", \"KeyType\": \"HASH\"}],"
                + "\"AttributeDefinitions\": [{\"AttributeName\": \"pk\", \"AttributeType\": \"S\"}]}");
        String filled = control.snapshot();
        control.reset();
        System.out.println(call("ListTables", "{}"));
        control.restore(filled);
        System.out.println(call("ListTables", "{}"));
        control.begin("Orders \"scan\"");
        call("Scan", "{\"TableName\": \"orders\"}");
        System.out.println(control.end("Orders \"scan\"").contains("the session fails on it"));
        try {
            control.end("none");
        } catch (IllegalStateException error) {
            System.out.println(error.getMessage());
        }
        try {
            server.stop();
        } catch (IllegalStateException error) {
            System.out.println(error.getMessage());
        }
    }

    private static String call(String operation, String request) throws Exception {
        HttpRequest signed = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/x-amz-json-1.0")
                .header("X-Amz-Target", "DynamoDB_20120810." + operation)
                .header("X-Amz-Date", "20260101T000000Z")
                .header("Authorization", "AWS4-HMAC-SHA256 Credential=a/1/eu-west-1/dynamodb/aws4_request,"
                        + " SignedHeaders=host, Signature=0")
                .POST(HttpRequest.BodyPublishers.ofString(request))
                .build();
        HttpResponse<String> answer =
                HttpClient.newHttpClient().send(signed, HttpResponse.BodyHandlers.ofString());
        return answer.body();
    }
}
