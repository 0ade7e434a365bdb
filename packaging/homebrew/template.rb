# Written by tools/packages.py --formula from packaging/homebrew/template.rb. The digest of the source archive is set
# when it is published: `brew fetch` prints it.
class Ringbolt < Formula
  include Language::Python::Virtualenv

  desc "Task memory for LLM agents that survives compaction and crashes"
  homepage "https://github.com/ringbolt-memory/ringbolt"
  url "https://files.pythonhosted.org/packages/source/r/ringbolt/ringbolt-{{version}}.tar.gz"
  license "Apache-2.0"

  depends_on "python@3.13"

{{resources}}

  def install
    virtualenv_install_with_resources
    man1.install Dir["packaging/man/*.1"]
    generate_completions_from_executable(bin/"ringbolt", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ringbolt --version")
    ENV["RINGBOLT_STORE"] = testpath/"store.db"
    system bin/"ringbolt", "register", "Deploy", "--step", "Build"
    assert_match "Build", shell_output("#{bin}/ringbolt ask 'What is next?'")
    request = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert_match '"result"', pipe_output("#{bin}/ringbolt mcp", "#{request}\n")
  end
end
