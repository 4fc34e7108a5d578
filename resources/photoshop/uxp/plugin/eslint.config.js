import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "src/generated/"] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // What runs in Photoshop is what is written here: nothing is made from text.
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-imports": ["error", { patterns: ["node:*"] }],
      // batchPlay is called in one place, which checks every element of its reply.
      "no-restricted-syntax": [
        "error",
        { selector: "CallExpression[callee.property.name='batchPlay']", message: "Use play() of host.ts." },
        { selector: "CallExpression[callee.property.name='executeAsModal']", message: "Use modal() of host.ts." },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
    },
  },
  { files: ["src/host.ts"], rules: { "no-restricted-syntax": "off" } },
  { files: ["**/*.js"], ...tseslint.configs.disableTypeChecked },
);
