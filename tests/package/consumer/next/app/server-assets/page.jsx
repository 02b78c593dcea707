import * as heed from "heed/assets";
import * as reference from "heed/reference";
import { compute } from "../compute.js";

export const dynamic = "force-dynamic";

export default async function Page() {
  const outcome = await compute(heed, reference).catch(({ code, message }) => ({ failure: `${code}: ${message}` }));
  return <pre id="server">{JSON.stringify(outcome)}</pre>;
}
