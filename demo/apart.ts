// Takes `:where(.a, .b)` apart into `:where(.a), :where(.b)`, and `:is` likewise. A browser finds a rule by the class at the end of its
// selector. It does not look into lists, and would try the rule on every element of the page, in every frame.

/** PostCSS's, as far as it is used. */
interface Rule {
  selectors: string[];
  clone(changed: { readonly selector: string }): Rule;
}

/** A list that is not within other parentheses, and what stands before and after it. */
const LIST = /^((?:[^()]|\([^()]*\))*?):(where|is)\(([^()]*,[^()]*)\)(.*)$/s;

export const apart = {
  postcssPlugin: "apart",
  Rule: (rule: Rule): void => {
    const selectors = rule.selectors.flatMap((selector) => takenApart(rule, selector));
    if (selectors.length > rule.selectors.length) rule.selectors = selectors;
  },
};

function takenApart(rule: Rule, selector: string): string[] {
  const [, before = "", kind = "", list, after = ""] = LIST.exec(selector) ?? [];
  if (list === undefined) return [selector];
  const items = rule.clone({ selector: list }).selectors;
  // All of an `:is` weigh as much as its heaviest.
  if (kind === "is" && new Set(items.map(specificity)).size > 1) return [selector];
  return items.flatMap((item) => takenApart(rule, `${before}:${kind}(${item})${after}`));
}

function specificity(selector: string): string {
  return [/#/g, /[.:[]/g, /(?:^|[\s>+~])[a-z]/g].map((part) => selector.match(part)?.length ?? 0).join();
}
