// Calls a server as any client written with grpc-js does, and prints what it heard as JSON.
//
//   node wire.js HOST:PORT PROTOS
//
// PROTOS is the folder with spanwise/v1/*.proto.
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const [endpoint, protos] = process.argv.slice(2);
const loaded = grpc.loadPackageDefinition(
  loadSync(["spanwise/v1/event_service.proto", "spanwise/v1/span_service.proto"], {
    includeDirs: [protos],
    longs: String,
    enums: String,
    defaults: true,
  }),
);
const { EventService, SpanService } = loaded.spanwise.v1;
const credentials = grpc.credentials.createInsecure();
const gzip = { "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip };
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, value) => value));

const executionId = { project: "flytesnacks", domain: "development", name: "from-node" };
const event = {
  event: {
    taskAttemptId: {
      nodeId: { executionId, nodeId: "n0" },
      taskId: { name: "workflows.train", project: "flytesnacks", domain: "development" },
    },
    phase: "PHASE_RUNNING",
    occurredAt: { seconds: 1700000000 },
  },
};

function outcome(error) {
  if (!error) return { code: "OK", text: "", details: 0 };
  const details = error.metadata?.get("grpc-status-details-bin") ?? [];
  return { code: grpc.status[error.code], text: error.details, details: details.length };
}

function create(options, request) {
  const client = new EventService(endpoint, credentials, options);
  const metadata = new grpc.Metadata();
  metadata.set("every-bin", everyByte);
  return new Promise((resolve) => {
    client.createTaskEvent(request, metadata, { deadline: Date.now() + 60_000 }, (error) => {
      client.close();
      resolve(outcome(error));
    });
  });
}

// Follows an execution that does not end; `then` is told when the first answer has come.
function follow(deadlineMs, then) {
  const client = new SpanService(endpoint, credentials);
  const call = client.watchExecutionSpan(
    { executionId },
    { deadline: Date.now() + deadlineMs },
  );
  return new Promise((resolve) => {
    call.once("data", () => then(call));
    call.on("data", () => {});
    call.on("error", (error) => {
      client.close();
      resolve(outcome(error));
    });
  });
}

// Asks reflection for the services twice on one stream: a request of the bytes 3a 00 does.
function reflect() {
  const same = (bytes) => bytes;
  const client = new grpc.Client(endpoint, credentials);
  const call = client.makeBidiStreamRequest(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    same,
    same,
  );
  const ask = () => call.write(Buffer.from([0x3a, 0x00]));
  return new Promise((resolve, reject) => {
    const answers = [];
    call.on("data", (answer) => {
      answers.push(answer.includes("spanwise.v1.SpanService"));
      if (answers.length === 1) ask();
      else call.end();
    });
    call.on("error", reject);
    call.on("end", () => {
      client.close();
      resolve(answers);
    });
    ask();
  });
}

const heard = {
  gzip: await create(gzip, event),
  again: await create({}, event),
  empty: await create({}, {}),
  deadline: await follow(5_000, () => {}),
  cancelled: await follow(60_000, (call) => call.cancel()),
  reflection: await reflect(),
};
process.stdout.write(`${JSON.stringify(heard)}\n`);
