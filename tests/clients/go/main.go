// Calls a server as any client written with grpc-go does, and prints what it heard as JSON.
//
//	wire HOST:PORT EVENT WATCH
//
// EVENT and WATCH are files with a serialised CreateTaskEventRequest and
// WatchExecutionSpanRequest, so that no generated code is needed here.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // so that details can be unpacked
)

const (
	createTaskEvent = "/spanwise.v1.EventService/CreateTaskEvent"
	watch           = "/spanwise.v1.SpanService/WatchExecutionSpan"
	patience        = 60 * time.Second
)

// raw passes bytes through.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (raw) Name() string { return "proto" }

type outcome struct {
	Code    string   `json:"code"`
	Text    string   `json:"text"`
	Details []string `json:"details"`
}

func outcomeOf(err error) outcome {
	said := status.Convert(err)
	details := []string{}
	for _, detail := range said.Proto().GetDetails() {
		details = append(details, detail.GetTypeUrl())
	}
	return outcome{said.Code().String(), said.Message(), details}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	connection := must(grpc.NewClient(os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials())))
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	event, watchRequest := must(os.ReadFile(os.Args[2])), must(os.ReadFile(os.Args[3]))
	heard := map[string]any{
		"health":   health(ctx, connection),
		"services": services(ctx, connection),
		"gzip":     create(ctx, connection, event, grpc.UseCompressor(gzip.Name)),
		"again":    create(ctx, connection, event),
		"empty":    create(ctx, connection, nil),
	}
	heard["deadline"], heard["cancelled"] = watches(ctx, connection, watchRequest)
	if err := json.NewEncoder(os.Stdout).Encode(heard); err != nil {
		log.Fatal(err)
	}
}

func health(ctx context.Context, connection *grpc.ClientConn) string {
	answer := must(healthpb.NewHealthClient(connection).Check(ctx, &healthpb.HealthCheckRequest{}))
	return answer.GetStatus().String()
}

// services asks twice on one stream, the second time after the first answer.
func services(ctx context.Context, connection *grpc.ClientConn) []string {
	stream := must(reflectionpb.NewServerReflectionClient(connection).ServerReflectionInfo(ctx))
	names := []string{}
	for range 2 {
		request := &reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{},
		}
		if err := stream.Send(request); err != nil {
			log.Fatal(err)
		}
		names = names[:0]
		for _, service := range must(stream.Recv()).GetListServicesResponse().GetService() {
			names = append(names, service.GetName())
		}
	}
	if err := stream.CloseSend(); err != nil {
		log.Fatal(err)
	}
	if _, err := stream.Recv(); err.Error() != "EOF" {
		log.Fatal(err)
	}
	return names
}

func create(
	ctx context.Context, connection *grpc.ClientConn, event []byte, options ...grpc.CallOption,
) outcome {
	// Every byte there is, which travels as base64.
	every := make([]byte, 256)
	for value := range every {
		every[value] = byte(value)
	}
	ctx = metadata.AppendToOutgoingContext(ctx, "every-bin", string(every))
	var answer []byte
	options = append(options, grpc.ForceCodec(raw{}))
	return outcomeOf(connection.Invoke(ctx, createTaskEvent, &event, &answer, options...))
}

// watches follows an execution that does not end, until the deadline passes and until it is
// cancelled. Both times an answer has come before.
func watches(
	ctx context.Context, connection *grpc.ClientConn, request []byte,
) (deadline, cancelled outcome) {
	description := &grpc.StreamDesc{ServerStreams: true}
	follow := func(ctx context.Context, then func()) outcome {
		stream := must(connection.NewStream(ctx, description, watch, grpc.ForceCodec(raw{})))
		var answer []byte
		if err := stream.SendMsg(&request); err != nil {
			log.Fatal(err)
		}
		if err := stream.CloseSend(); err != nil {
			log.Fatal(err)
		}
		if err := stream.RecvMsg(&answer); err != nil {
			log.Fatal(err)
		}
		then()
		for {
			if err := stream.RecvMsg(&answer); err != nil {
				return outcomeOf(err)
			}
		}
	}
	short, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	deadline = follow(short, func() {})
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	return deadline, follow(cancellable, cancel)
}
