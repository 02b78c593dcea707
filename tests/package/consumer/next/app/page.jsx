import * as heed from "heed";
import * as reference from "heed/reference";
import Client from "./client.jsx";
import { compute } from "./compute.js";

export const dynamic = "force-dynamic";

export default async function Page() {
  const outcome = await compute(heed, reference);
  return (
    <main>
      <pre id="server">{JSON.stringify(outcome)}</pre>
      <Client />
    </main>
  );
}
