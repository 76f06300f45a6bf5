// Writes 100,000 bytes to each of out1 to out3, in the ways of C++.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main() {
    std::vector<char> values(100000);
    std::ofstream("out1").write(values.data(), static_cast<std::streamsize>(values.size()));
    {
        std::ofstream out("out2");
        for (int i = 0; i < 10000; i++)
            out << "0123456789";
    }
    std::filesystem::copy_file("out1", "out3");
    std::string read;
    std::ifstream("out2") >> read;
    std::cout << read.size() << std::endl;
}
