// Loaded into a server on Node.js before its own code: whatever address it means
// to listen on, it listens on a free port of loopback, and says which.
'use strict';
const net = require('node:net');

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function onLoopback(...args) {
  this.once('listening', () => process.stderr.write(`listening on 127.0.0.1:${this.address().port}\n`));
  return listen.call(this, { host: '127.0.0.1', port: 0 }, args.find((arg) => typeof arg === 'function'));
};
