import { expect, test } from "vitest";
import { csv } from "./csv";

test("CSV quotes what needs it, and lets no formula through", () => {
  expect(csv(["name", "why"], [["a,b", 'say "x"'], ["=1+1", null], [-5, "＝1"]])).toBe('name,why\r\n"a,b","say ""x"""\r\n\'=1+1,\r\n-5,\'＝1\r\n');
});
