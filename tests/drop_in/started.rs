// Starts a server as a container of testcontainers-rs is started, and waits for the line that it
// waits for; then asks for the tables over a plain connection.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

const READY: &str = "Initializing DynamoDB Local with the following configuration";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut server = Command::new(&words[0])
        .args(&words[1..])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.by_ref().find(|line| line.contains(READY)).expect("it says that it is ready");
    let port = lines.next().unwrap().replace("Port:\t", "");
    let mut connection = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
    let scope = "Credential=a/1/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
    write!(
        connection,
        "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
         Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n\
         Authorization: AWS4-HMAC-SHA256 {scope}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    println!("{}", answer.split("\r\n\r\n").nth(1).unwrap());
    server.kill().unwrap();
    server.wait().unwrap();
}
