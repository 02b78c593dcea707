// Says that an address held larger numbers than can be typed, until something is changed.

import { WHAT_IS_TYPED } from "heed/viz";
import type { Store } from "../model/store.js";
import { find, h } from "../ui/dom.js";

export function tellOfTooLarge<S extends object>(store: Store<S>): void {
  const said = h("p", { class: "warning", role: "status" });
  find("#warning", HTMLElement).after(said);
  const show = (): void => {
    said.hidden = !store.wasTooLarge;
    said.textContent = said.hidden
      ? ""
      : `This address holds larger numbers than this page takes; they were cut to its bounds. ${WHAT_IS_TYPED}`;
  };
  store.listen(show);
  show();
}
