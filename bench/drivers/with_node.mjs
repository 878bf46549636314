// Drives the Node SDK: the same jobs and figures as the drivers in Python.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const PAYLOAD = { name: "echo", arguments: { text: "x".repeat(100) } };
const WARM_UP = 300;

// A server is a command, or a URL.
async function opened(server) {
  const client = new Client({ name: "bench", version: "0" });
  await client.connect(wayTo(server));
  return client;
}

function wayTo(server) {
  if (typeof server === "string") return new StreamableHTTPClientTransport(new URL(server));
  const [command, ...args] = server;
  return new StdioClientTransport({ command, args });
}

async function sequential({ server, seconds }) {
  const client = await opened(server);
  const calls = await callsIn(seconds, client);
  const times = [];
  const began = cpu();
  for (let n = 0; n < calls; n++) {
    const started = performance.now();
    await client.callTool(PAYLOAD);
    times.push(performance.now() - started);
  }
  const spent = cpu() - began;
  await client.close();
  return { cpu: spent / calls, p50: median(times) * 1e3 };
}

async function flight({ server, seconds, workers }) {
  const client = await opened(server);
  const each = await callsEach(seconds, client, workers);
  const began = cpu();
  const started = performance.now();
  await crowd(client, workers, each);
  const took = performance.now() - started;
  const spent = cpu() - began;
  await client.close();
  return { cpu: spent / (each * workers), rate: (each * workers) / took * 1e3 };
}

// About how many calls each of so many can make in that time, after some that are not counted.
async function callsEach(seconds, client, workers) {
  const first = Math.max(3, Math.floor(WARM_UP / workers));
  let started;
  for (let time = 0; time < 2; time++) {
    started = performance.now();
    await crowd(client, workers, first);
  }
  return Math.max(first, Math.floor(seconds * 1e3 * first / (performance.now() - started)));
}

async function listed({ servers, tools }) {
  const began = cpu();
  let started = performance.now();
  const clients = await Promise.all(servers.map(opened));
  const lists = await Promise.all(clients.map((client) => client.listTools()));
  const took = performance.now() - started;
  const spent = cpu() - began;
  const found = lists.reduce((sum, list) => sum + list.tools.length, 0);
  if (found !== tools) throw new Error(`expected ${tools} tools, found ${found}`);
  const memory = Number(readFileSync("/proc/self/statm", "utf8").split(" ")[1]) * 4096 / 1e6;
  started = performance.now();
  await Promise.all(clients.map((client) => client.close()));
  return { wall: took, cpu: spent / 1e3, close: performance.now() - started, memory };
}

async function callsIn(seconds, client) {
  const started = performance.now();
  await work(client, WARM_UP);
  return Math.max(WARM_UP, Math.floor((seconds * 1e3 * WARM_UP) / (performance.now() - started)));
}

async function work(client, calls) {
  for (let n = 0; n < calls; n++) await client.callTool(PAYLOAD);
}

function crowd(client, workers, each) {
  return Promise.all(Array.from({ length: workers }, () => work(client, each)));
}

// Microseconds of CPU that this process has taken, in its own code and in the kernel's.
function cpu() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function median(times) {
  const sorted = times.sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

const jobs = { sequential, flight, listed };
for await (const line of createInterface({ input: process.stdin })) {
  const { job, ...details } = JSON.parse(line);
  console.log(JSON.stringify(await jobs[job](details)));
}
