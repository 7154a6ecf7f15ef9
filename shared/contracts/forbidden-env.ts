/** Names no caller may ever set, whatever the sandbox profile says. */
export const FORBIDDEN_ENV =
  /^(PATH|HOME|BASH_ENV|ENV|IFS|OUTPUT_DIR|COGNITION_.*|LD_.*|NODE_.*|PYTHON.*|AWS_.*)$/;
