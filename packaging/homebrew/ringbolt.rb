# Written by tools/packages.py --formula from packaging/homebrew/template.rb. The digest of the source archive is set
# when it is published: `brew fetch` prints it.
class Ringbolt < Formula
  include Language::Python::Virtualenv

  desc "Task memory for LLM agents that survives compaction and crashes"
  homepage "https://github.com/ringbolt-memory/ringbolt"
  url "https://files.pythonhosted.org/packages/source/r/ringbolt/ringbolt-0.2.0.tar.gz"
  license "Apache-2.0"

  depends_on "python@3.13"

  resource "apsw" do
    url "https://files.pythonhosted.org/packages/source/a/apsw/apsw-3.54.1.0.tar.gz"
    sha256 "d9fd64ed76dc0f3d2265d4aeedb74d678c2ac7dffbd4e8ba05bf9a87aa7c34d3"
  end

  resource "click" do
    url "https://files.pythonhosted.org/packages/source/c/click/click-8.5.1.tar.gz"
    sha256 "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4"
  end

  resource "markdown-it-py" do
    url "https://files.pythonhosted.org/packages/source/m/markdown-it-py/markdown_it_py-4.3.0.tar.gz"
    sha256 "91a58fa5b72c71a40cf7177250fd767480d7a2bb3ac426ccfb76fb90305fdaaa"
  end

  resource "mdurl" do
    url "https://files.pythonhosted.org/packages/source/m/mdurl/mdurl-0.1.2.tar.gz"
    sha256 "bb413d29f5eea38f31dd4754dd7377d4465116fb207585f97bf925588687c1ba"
  end

  resource "msgspec" do
    url "https://files.pythonhosted.org/packages/source/m/msgspec/msgspec-0.22.0.tar.gz"
    sha256 "0a13624a4969159fe35d8c2a3d377b2b61bbd8585e327440d5e52725affcce38"
  end

  resource "pygments" do
    url "https://files.pythonhosted.org/packages/source/p/pygments/pygments-2.21.0.tar.gz"
    sha256 "610ca751c9bc2492b38eb9a38a7fbc93edbbb2d7182edaf34e66ae493dee5c8c"
  end

  resource "rich" do
    url "https://files.pythonhosted.org/packages/source/r/rich/rich-15.0.0.tar.gz"
    sha256 "edd07a4824c6b40189fb7ac9bc4c52536e9780fbbfbddf6f1e2502c31b068c36"
  end

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
