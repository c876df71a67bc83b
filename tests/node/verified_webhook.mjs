// Verifies a message with the npm reference library of Standard Webhooks.
// Arguments: folder of the packages, secret, headers as JSON, body. Prints the type of the message.

const [packages, secret, headers, body] = process.argv.slice(2);
const { Webhook } = await import(`${packages}/standardwebhooks/dist/index.js`);

console.log(new Webhook(secret).verify(body, JSON.parse(headers)).type);
