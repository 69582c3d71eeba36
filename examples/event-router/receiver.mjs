// Prints every request it gets, and answers each with a receipt. For trying the event router by hand.
import { createServer } from 'node:http';

const port = Number(process.argv[2] ?? 9099);
let receipts = 0;

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  receipts += 1;
  console.log(`${request.method} ${request.url}  Idempotency-Key: ${request.headers['idempotency-key']}`);
  console.log(Buffer.concat(chunks).toString());
  response.writeHead(201, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ receipt: `R-${receipts}` }));
}).listen(port, '127.0.0.1', () => console.log(`Receiver listens on http://127.0.0.1:${port}`));
