// A project's tests in Go, with the AWS SDK, on a server that the client has started.
package orders

import (
	"context"
	"os"
	"testing"

	"dynamometer"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var server *dynamometer.Server

func TestMain(m *testing.M) {
	var err error
	server, err = dynamometer.Start("--rate", "50", "--fail-on", "scan", "--report", os.Getenv("REPORT"))
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

func client(tb testing.TB) *dynamodb.Client {
	server.Test(tb)
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-west-1",
		BaseEndpoint: aws.String(server.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("any", "any", ""),
	})
}

func create(tb testing.TB, c *dynamodb.Client) {
	_, err := c.CreateTable(context.Background(), &dynamodb.CreateTableInput{
		TableName:            aws.String("orders"),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func TestPut(t *testing.T) {
	c := client(t)
	create(t, c)
	empty := server.Snapshot(t)
	put := &dynamodb.PutItemInput{
		TableName: aws.String("orders"),
		Item:      map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
	}
	if _, err := c.PutItem(context.Background(), put); err != nil {
		t.Fatal(err)
	}
	server.Restore(t, empty, "any")
	got, err := c.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: put.TableName, Key: put.Item})
	if err != nil || got.Item != nil {
		t.Fatal(got, err)
	}
}

func TestScan(t *testing.T) {
	c := client(t)
	if _, err := c.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("orders")}); err != nil {
		t.Fatal(err)
	}
	server.Reset(t)
}
