/**
 * A call as code to copy: boto3 and the AWS CLI.
 *
 *   boto3Sample("Query", request, { endpoint, region, accessKey })
 *   cliSample("Query", request, { endpoint, region, accessKey })
 */

const ATTRIBUTE_OF_BYTES = new Set(["B", "BS"]);

export function boto3Sample(operation, request, { endpoint, region, accessKey }) {
  const members = Object.entries(request).map(([name, value]) =>
    `    ${name}=${pythonLiteral(value, 1)},\n`
  );
  const needsBytes = members.some((member) => member.includes("b64decode("));
  return [
    needsBytes ? "from base64 import b64decode\n\n" : "",
    "import boto3\n\n",
    "client = boto3.client(\n",
    `    "dynamodb",\n    endpoint_url=${pythonText(endpoint)},\n`,
    `    region_name=${pythonText(region)},\n`,
    `    aws_access_key_id=${pythonText(accessKey)},\n    aws_secret_access_key="any",\n)\n`,
    `client.${snakeCase(operation)}(\n`,
    ...members,
    ")\n",
  ].join("");
}

export function cliSample(operation, request, { endpoint, region, accessKey }) {
  const options = Object.entries(request).map(([name, value]) => cliOption(name, value));
  return [
    `AWS_ACCESS_KEY_ID=${shellText(accessKey)} AWS_SECRET_ACCESS_KEY=any \\\n`,
    `aws dynamodb ${kebabCase(operation)} \\\n`,
    ...options.map((option) => `  ${option} \\\n`),
    `  --region ${shellText(region)} --endpoint-url ${shellText(endpoint)}\n`,
  ].join("");
}

function cliOption(name, value) {
  const option = kebabCase(name);
  if (value === true) return `--${option}`;
  if (value === false) return `--no-${option}`;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return `--${option} ${shellText(text)}`;
}

function pythonLiteral(value, depth) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return pythonText(value);
  if (Array.isArray(value)) {
    return `[${value.map((member) => pythonLiteral(member, depth)).join(", ")}]`;
  }
  const entries = Object.entries(value);
  if (entries.length === 1 && ATTRIBUTE_OF_BYTES.has(entries[0][0])) {
    const [[type, content]] = entries;
    if (typeof content === "string") return `{"B": b64decode(${pythonText(content)})}`;
    if (Array.isArray(content)) {
      const members = content.map((member) => `b64decode(${pythonText(member)})`);
      return `{"${type}": [${members.join(", ")}]}`;
    }
  }
  const members = entries.map(([name, member]) =>
    `${pythonText(name)}: ${pythonLiteral(member, depth + 1)}`
  );
  const line = `{${members.join(", ")}}`;
  if (line.length <= 70) return line;
  const indent = "    ".repeat(depth + 1);
  return `{\n${members.map((member) => `${indent}${member},\n`).join("")}${"    ".repeat(depth)}}`;
}

/** JSON's escapes are Python's, but for characters past the first plane, which stay themselves. */
function pythonText(text) {
  return JSON.stringify(text).replace(/\u007f/g, "\\x7f");
}

function shellText(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function snakeCase(name) {
  return name.replace(/(?!^)([A-Z])/g, "_$1").toLowerCase();
}

function kebabCase(name) {
  return name.replace(/(?!^)([A-Z])/g, "-$1").toLowerCase();
}
