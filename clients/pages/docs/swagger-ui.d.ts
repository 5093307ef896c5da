/** Swagger UI has no types. These are the options that the page uses. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export default function SwaggerUI(options: {
    readonly dom_id: string;
    readonly spec: object;
    readonly tryItOutEnabled: boolean;
    readonly displayRequestDuration: boolean;
    readonly validatorUrl: 'none';
    readonly syntaxHighlight: { readonly activated: boolean };
    readonly plugins: readonly object[];
  }): void;
}
