import Client from "./client.jsx";

export default function Page() {
  return <Client />;
}
