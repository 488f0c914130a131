package dynamometer;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** The server in a container, with Testcontainers: an image in the place of amazon/dynamodb-local. */
public class DynamometerContainer extends GenericContainer<DynamometerContainer> {
    private static final int PORT = 8000;

    /** A container of an image, such as {@code dynamometer}. */
    public DynamometerContainer(String image) {
        super(DockerImageName.parse(image));
        withExposedPorts(PORT);
        waitingFor(Wait.forHttp("/_emulator/health").forPort(PORT));
    }

    /** What an SDK takes as its endpoint. */
    public String url() {
        return "http://" + getHost() + ":" + getMappedPort(PORT);
    }

    /** The routes for tests of the server. */
    public Control control() {
        return new Control(url());
    }
}
